import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { followShellGuide } from '../../kit/guides/shell-guide.js'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('the commands of docs/control.md print what it shows', async () => {
  const port = String(await freePort())
  const { code, printed, outputs } = await followShellGuide('docs/control.md', {
    shown: 'output',
    adapt: (text) => text.replaceAll('6385', port),
  })
  expect(code, printed.slice(-3000)).toBe(0)
  expect(outputs.length).toBeGreaterThan(4)
  for (const { name, shown, printed: found } of outputs)
    expect(found.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'NODE'), name).toBe(shown)
})
