import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Probe, systemClock } from '../../base/runtime/index.js'
import { runLiveIgnition } from './live-ignition.js'

test('Ignition in a live system retries a failed request, and uses the proxy of its config', async () => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    if (requests.length === 1) response.writeHead(503).end()
    else response.end('contents')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const lines: string[] = []
  try {
    const config = {
      ignition: { version: '3.4.0', proxy: { httpProxy: `http://127.0.0.1:${port}` } },
      storage: { files: [{ path: '/etc/fetched', contents: { source: 'http://files.example.org/a?token=secret' } }] },
    }
    const { version, files } = await runLiveIgnition(
      {
        kind: 'coreos',
        hasRoot: true,
        version: null,
        config: Buffer.from(JSON.stringify(config)),
        kernelArguments: 'ignition.firstboot ignition.platform.id=metal',
      },
      {
        machine: 'm1',
        clock: systemClock(),
        probe: new Probe(),
        signal: new AbortController().signal,
        say: (line) => void lines.push(line),
      },
    )
    expect(requests).toEqual(Array.from({ length: 2 }, () => 'http://files.example.org/a?token=secret'))
    expect(version).toBe('3.4.0')
    expect(files).toMatchObject([{ path: '/etc/fetched', base64: Buffer.from('contents').toString('base64') }])
    expect(lines.join('\n')).toContain('GET http://files.example.org/a?***: attempt #2')
    expect(lines.join('\n')).not.toContain('secret')
  } finally {
    server.close()
  }
})
