import { expect, test } from 'vitest'
import { followShellGuide } from '../../kit/guides/shell-guide.js'
import { freePort } from '../free-port.js'

/** Pages whose blocks are one script of a shell with curl, on a port of this test's own. */

test.each([
  { page: 'docs/control.md', shown: 4 },
  { page: 'docs/first-fault.md', shown: 1 },
  { page: 'docs/questions.md', shown: -1 },
])('the commands of $page print what it shows', async ({ page, shown: atLeast }) => {
  const port = String(await freePort())
  const { code, printed, outputs } = await followShellGuide(page, {
    shown: 'output',
    adapt: (text) => text.replaceAll('6385', port),
  })
  expect(code, printed.slice(-3000)).toBe(0)
  expect(outputs.length).toBeGreaterThan(atLeast)
  for (const { name, shown, printed: found } of outputs)
    expect(found.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'NODE'), name).toBe(shown)
})
