import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { command } from '../kit/commands/command.js'

/** `ironstage up --redfish-port`: the BMCs of the machines for other clients. */

test('the BMCs of the machines are served by Redfish with the account of their nodes', async () => {
  const up = command(['up', '--port', '0', '--nodes', '2', '--redfish-port', '0', '--json'])
  onTestFinished(async () => {
    up.stop()
    await up.ended
  })
  await up.printed(/"event":"ready"/)
  const [, url] = /"redfish_url":"([^"]+)"/.exec(up.stdout)!
  expect((await fetch(`${url}/redfish/v1/`)).status).toBe(200)
  expect((await fetch(`${url}/redfish/v1/Systems`)).status).toBe(401)
  const authorization = `Basic ${Buffer.from('admin:password').toString('base64')}`
  const system = `${url}/redfish/v1/Systems/machine-1`
  const first = await fetch(system, { headers: { authorization } })
  expect(await first.json()).toMatchObject({ PowerState: 'Off', Id: 'machine-1' })
  const other = `Basic ${Buffer.from('admin:second').toString('base64')}`
  expect((await fetch(system, { headers: { authorization: other } })).status).toBe(401)
})

test('ports that were picked are the same after a restart: of Ironic, the BMCs and the Kubernetes API', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-up-ports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const picked = ['--port', '0', '--redfish-port', '0', '--ipmi-port', '0', '--kube-api', '0', '--json']
  const addresses = async (): Promise<object> => {
    const up = command(['up', '--nodes', '2', '--state-dir', join(folder, 'state'), ...picked])
    const [line] = await up.printed(/^.*"event":"ready".*$/m)
    up.stop()
    await up.ended
    const { environment: _, ...ready } = JSON.parse(line) as Record<string, unknown>
    return ready
  }
  const first = await addresses()
  expect(Object.keys(first)).toEqual(
    expect.arrayContaining(['ironic_url', 'redfish_url', 'ipmi_ports', 'kube_api_url']),
  )
  expect(await addresses()).toEqual(first)
})
