import { createHash } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { UpProcess } from '../../kit/commands/up-process.js'

const NODES = 8

let folder: string
let raw: Buffer
let server: ChildProcess
let base: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-closing-'))
  raw = await rehearsalImage()
  await writeFile(join(folder, 'disk.raw'), raw)
  // Speaks HTTP/1.0, and closes the connection behind each body.
  const argv = ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory', folder]
  server = spawn('python3', argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  base = await new Promise<string>((resolve, reject) => {
    server.once('error', reject)
    createInterface({ input: server.stdout! }).on('line', (line) => {
      const [, port] = /port (\d+)/.exec(line) ?? []
      if (port) resolve(`http://127.0.0.1:${port}`)
    })
  })
})
afterAll(async () => {
  server?.kill()
  await rm(folder, { recursive: true, force: true })
})

test('eight direct deployments at once from a server that closes after the body: all active, and the process lives', async () => {
  const up = new UpProcess(['--port', '0', '--nodes', String(NODES), '--speed', '60'])
  try {
    const clock = systemClock()
    await using transport = new HttpTransport({ clock })
    const client = new IronicClient({ transport, endpoint: await up.ready, clock })
    const ended = await Promise.all(
      Array.from({ length: NODES }, async (_, number) => {
        const node = `node-${number}`
        const patch = (path: string, value: unknown) => client.patchNode(node, [{ op: 'add', path, value }])
        await patch('/deploy_interface', 'direct')
        await patch('/instance_info', {
          image_source: `${base}/disk.raw`,
          image_disk_format: 'raw',
          image_os_hash_algo: 'sha256',
          image_os_hash_value: createHash('sha256').update(raw).digest('hex'),
        })
        await client.provision(node, 'manage', {})
        await client.waitFor(node, ['manageable'], { every: 100 })
        await client.provision(node, 'provide', {})
        await client.waitFor(node, ['available'], { every: 100 })
        await client.provision(node, 'active', {})
        return client.waitFor(node, ['active', 'deploy failed'], { every: 100 })
      }),
    )
    expect(up.alive, up.stray.join('\n')).toBe(true)
    expect(ended.map(({ provision_state, last_error }) => [provision_state, last_error])).toEqual(
      Array(NODES).fill(['active', null]),
    )
  } finally {
    await up.stop()
  }
})
