import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createLab } from '../../../lab/index.js'
import { command } from '../../kit/commands/command.js'

const fleet = (...argv: string[]) => command(['fleet', '--redfish-port', '0', '--no-ui', ...argv])

/** A server that takes connections and says nothing. */
async function silentServer() {
  const server = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connected = new Promise<void>((resolve) => server.once('connection', () => resolve()))
  const { port } = server.address() as AddressInfo
  return { port, connected, close: () => new Promise((resolve) => server.close(resolve)) }
}

describe('--enrol', () => {
  test('waits for an Ironic that is not up yet, says so in one line, and enrolls the machines once it is', async () => {
    const free = await silentServer()
    await free.close()
    const run = fleet('--count', '10', '--ironic-url', `http://127.0.0.1:${free.port}`, '--enrol')
    await run.printed(/the Ironic cannot be reached, and is asked again every 2s: .*refused/)
    await using _ = await createLab({ listen: { host: '127.0.0.1', port: free.port } })
    await run.printed(/10 of 10 machines were new/)
    expect(run.stdout.match(/cannot be reached/g)).toHaveLength(1)
    run.stop()
    expect(await run.ended).toBe(0)
  }, 30_000)

  test('stops in order while an Ironic hangs', async () => {
    const hangs = await silentServer()
    const run = fleet('--count', '3', '--ironic-url', `http://127.0.0.1:${hangs.port}`, '--enrol')
    await hangs.connected
    run.stop()
    expect(await run.ended).toBe(0)
    expect(run.stdout).toContain('the fleet stops: stopped by SIGTERM')
    await hangs.close()
  })
})
