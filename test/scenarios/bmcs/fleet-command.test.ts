import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLab } from '../../../lab/index.js'
import { command } from '../../kit/commands/command.js'

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const fleet = (...argv: string[]) => command(['fleet', '--redfish-port', '0', '--no-ui', ...argv])

/** A server that takes connections and says nothing. */
async function silentServer() {
  const server = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connected = new Promise<void>((resolve) => server.once('connection', () => resolve()))
  const { port } = server.address() as AddressInfo
  return { port, connected, close: () => new Promise((resolve) => server.close(resolve)) }
}

describe('options of nodes that their file cannot hold are refused before the fleet starts', () => {
  test.each([
    ['hosts.yaml', ['--boot-interface', 'no-such'], /cannot have the boot interface no-such/],
    [
      'hosts.yaml',
      ['--driver-info', 'deploy_kernel=http://192.0.2.1/kernel'],
      /hosts.yaml has no place for --driver-info/,
    ],
    [
      'hosts.csv',
      ['--driver-info', 'deploy_kernel=http://192.0.2.1/kernel'],
      /hosts.csv has no place for --driver-info/,
    ],
    ['hosts.csv', ['--boot-interface', 'ipxe'], /hosts.csv has no place for --boot-interface/],
  ])('%s with %j', async (file, argv, says) => {
    const run = fleet('--hosts-out', join(await temporary(), file), ...argv)
    expect(await run.ended).toBe(2)
    expect(run.stderr).toMatch(says)
    expect(run.stdout).toBe('')
  })
})

test('a random password that nothing shows is said with what to do, and is not shown itself', async () => {
  const folder = await temporary()
  const says = /nothing shows it; name one with --password-file/
  const unknown = fleet()
  await unknown.printed(/the control API is at/)
  unknown.stop()
  expect(await unknown.ended).toBe(0)
  expect(unknown.stderr).toMatch(says)
  const listed = fleet('--hosts-out', join(folder, 'nodes.json'), '--state-dir', join(folder, 'state'))
  await listed.printed(/the control API is at/)
  listed.stop()
  await listed.ended
  expect(listed.stderr).not.toMatch(says)
})

describe('--enroll', () => {
  test('waits for an Ironic that is not up yet, says so in one line, and enrolls the machines once it is', async () => {
    const free = await silentServer()
    await free.close()
    const run = fleet('--count', '10', '--ironic-url', `http://127.0.0.1:${free.port}`, '--enroll')
    await run.printed(/Ironic cannot be reached; retrying every 2s: .*refused/)
    await using _ = await createLab({ listen: { host: '127.0.0.1', port: free.port } })
    await run.printed(/10 of 10 machines were new/)
    expect(run.stdout.match(/cannot be reached/g)).toHaveLength(1)
    run.stop()
    expect(await run.ended).toBe(0)
  }, 30_000)

  test('stops in order while an Ironic hangs', async () => {
    const hangs = await silentServer()
    const run = fleet('--count', '3', '--ironic-url', `http://127.0.0.1:${hangs.port}`, '--enroll')
    await hangs.connected
    run.stop()
    expect(await run.ended).toBe(0)
    expect(run.stdout).toContain('the fleet stops: stopped by SIGTERM')
    await hangs.close()
  })
})
