import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Baremetal } from './baremetal.js'
import { commandedIronic, type CommandedIronic } from './commanded-ironic.js'
import { commandedNode } from './commanded-node.js'
import { INSTALLATION, type ServedIronic } from './served.js'

let commanded: CommandedIronic | undefined
let ironic: ServedIronic
let baremetal: Baremetal
beforeAll(async () => {
  commanded = await commandedIronic()
  ;({ ironic, baremetal } = commanded)
}, INSTALLATION)
afterAll(() => commanded?.[Symbol.asyncDispose]())

const manageable = async (name: string, ...fields: string[]) => {
  const node = await commandedNode({ baremetal, ironic }, name, '--deploy-interface', 'custom-agent', ...fields)
  await node.waited('manage')
  return node
}

const INSTALL = JSON.stringify([{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }])

describe.concurrent('baremetal ends with 1 and says what happened when', () => {
  test('a program of the deployment fails; the next try works', async () => {
    const node = await manageable('broken-installer', '--no-automated-clean')
    await node.waited('provide')
    using fault = ironic.stage.faults.add({
      match: { node: node.uuid, program: 'coreos-installer' },
      effect: { kind: 'exit-code', code: 1, stderr: 'Error: no disk like that\n' },
    })
    expect(await baremetal.refused('node deploy broken-installer --wait 60 --deploy-steps', INSTALL)).toBe(
      `1: Node broken-installer failed to reach state active. It's in state deploy failed, and has error: ` +
        `Deploy step deploy.install_coreos failed on node ${node.uuid}. ` +
        'coreos-installer failed with code 1: Error: no disk like that',
    )
    fault[Symbol.dispose]()
    await node.waited('deploy', '--deploy-steps', INSTALL)
    expect(await node.show()).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('a cleaning has a step that nobody knows', async () => {
    const node = await manageable('unclean')
    const unknown = '[{"interface":"deploy","step":"polish","args":{}}]'
    expect(await baremetal.refused('node clean unclean --wait 60 --clean-steps', unknown)).toMatch(
      /^1: Node unclean failed to reach state manageable\. It's in state clean failed, and has error: .*polish/,
    )
    // Nothing was begun, so the node is as fit as it was.
    expect(await node.show()).toMatchObject({ maintenance: false, fault: null, clean_step: {} })
    await node.waited('manage')
  })

  test('it has waited for as long as it was told to', async () => {
    const node = await manageable('slow', '--no-automated-clean')
    await node.waited('provide')
    using _ = ironic.stage.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    expect(await baremetal.refused('node deploy slow --wait 1 --deploy-steps', INSTALL)).toBe(
      '1: Node(s) slow failed to reach state active in 1 seconds',
    )
    await node.until({ provision_state: 'wait call-back' })
    expect(await baremetal.refused('node set slow --property cpus=4')).toMatch(/^1: .*\(HTTP 409\)$/)
    await baremetal.ok('node abort slow')
    await node.until({ provision_state: 'deploy failed' })
  })

  test('what a driver needs is missing', async () => {
    await baremetal.ok('node create --driver redfish --name without-address')
    expect(await baremetal.refused('node manage without-address --wait 60')).toBe(
      "1: Node without-address failed to reach state manageable. It's in unexpected stable state enroll",
    )
    expect(await baremetal.json('node show without-address')).toMatchObject({
      last_error: expect.stringContaining('redfish_address'),
    })
    expect(await baremetal.refused('node power on without-address')).toMatch(/^1: .*redfish_address.*\(HTTP 400\)$/)
  })

  test('one of several is missing: the others are worked', async () => {
    await baremetal.ok('node create --driver fake-hardware --name there')
    expect(await baremetal.refused('node delete there nowhere')).toBe(
      '1: Failed to delete node nowhere: Node nowhere could not be found. (HTTP 404)',
    )
    expect(await baremetal.refused('node show there')).toContain('(HTTP 404)')
  })

  test('a verb or a name is not for that state', async () => {
    const { uuid } = await baremetal.json<{ uuid: string }>('node create --driver fake-hardware --name new')
    for (const verb of ['provide', 'deploy', 'undeploy', 'rebuild', 'inspect', 'adopt', 'abort', 'unrescue', 'unhold'])
      expect([verb, await baremetal.refused(`node ${verb} new`)]).toEqual([
        verb,
        expect.stringMatching(
          new RegExp(
            `^1: The requested action "[a-z]+" can not be performed on node "${uuid}" while it is in state "enroll"\\. \\(HTTP 400\\)$`,
          ),
        ),
      ])
    expect(await baremetal.refused('node create --driver fake-hardware --name new')).toBe(
      '1: A node with name new already exists. (HTTP 409)',
    )
    expect(await baremetal.refused('node create --driver fake-hardware --name', 'not a name')).toMatch(/\(HTTP 400\)$/)
  })
})
