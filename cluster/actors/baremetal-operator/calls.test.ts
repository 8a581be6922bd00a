import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createStagedLab } from '../../../lab/index.js'
import { seededRandom, silent } from '../../../runtime/index.js'
import { operatorCalls, type OperatorCall } from '../../../test/kit/operator-calls.js'
import type { BareMetalHost } from '../../kube/kinds/metal3.js'
import { openKube } from '../../kube/open-kube.js'
import { Behaviours } from '../behaviours.js'
import { runBareMetalOperator } from './baremetal-operator.js'

/**
 * Calls of baremetal-operator 02aa505: its controller of hosts and its Ironic provisioner, run over an API of
 * controller-runtime's fake client against `ironstage up`, recorded and put through operatorCalls.
 */
const RECORDED = new URL('../../../test/fixtures/baremetal-operator-calls.json', import.meta.url)

const at = { name: 'one', namespace: 'metal3' }

const HOSTS: Readonly<Record<string, Partial<BareMetalHost['spec']>>> = {
  custom: { customDeploy: { method: 'install_coreos' } },
  'live-iso': { image: { url: 'http://images.invalid/live.iso', format: 'live-iso' } },
}

test.each(Object.keys(HOSTS))(
  'a %s host leads to the calls of the real operator, from its creation to its end',
  async (kind) => {
    const recorded = JSON.parse(await readFile(RECORDED, 'utf8')) as Record<string, OperatorCall[]>
    await using lab = await createStagedLab({ ironic: { profile: 'metal3' } })
    const { clock } = lab
    const random = seededRandom(1)
    const { client: kube } = openKube({ clock, random })
    const made: OperatorCall[] = []
    const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
    const onCall = ({ method, path, body }: OperatorCall): void => void made.push({ method, path, body })
    await using _operator = runBareMetalOperator({ ...parts, ironic: lab, calls: { onCall } })
    const secret = { apiVersion: 'v1', kind: 'Secret' } as const
    const { namespace } = at
    const account = { username: 'admin', password: 'secret' }
    await kube.create<'Secret'>({ ...secret, metadata: { name: 'bmc', namespace }, stringData: account })
    const stringData = { value: '{"ignition":{"version":"3.4.0"}}' }
    await kube.create<'Secret'>({ ...secret, metadata: { name: 'ignition', namespace }, stringData })
    const address = 'redfish-virtualmedia://10.4.0.1:8000/redfish/v1/Systems/1'
    await kube.create<'BareMetalHost'>({
      ...{ apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', metadata: at },
      spec: {
        ...{ online: true, bootMACAddress: '52:54:00:b0:00:01', userData: { name: 'ignition' } },
        bmc: { address, credentialsName: 'bmc', disableCertificateVerification: true },
        ...HOSTS[kind],
      },
    })
    const steady = (state: string) =>
      lab.wait(
        (async () => {
          for (;;) {
            const { status } = await kube.get('BareMetalHost', at)
            if (status?.provisioning.state === state && status.poweredOn) return
            await clock.sleep(1_000)
          }
        })(),
      )
    await steady('provisioned')
    await kube.patch('BareMetalHost', at, { spec: { image: null, customDeploy: null } })
    await steady('available')
    await kube.delete('BareMetalHost', at)
    await lab.wait(
      (async () => {
        while (await kube.find('BareMetalHost', at)) await clock.sleep(1_000)
      })(),
    )
    expect(operatorCalls(made)).toEqual(recorded[kind])
  },
)
