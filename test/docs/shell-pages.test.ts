import { expect, test } from 'vitest'
import { followShellGuide } from '../kit/guides/shell-guide.js'

/** Pages whose blocks need nothing but the built command; those that call a server are in `test/real/commands/pages.test.ts`. */

test('the first deployment ends as its page says', { timeout: 60_000 }, async () => {
  const { code, printed } = await followShellGuide('docs/first-deployment.md', {
    shown: 'output',
    adapt: (text) => text,
  })
  expect(code, printed.slice(-3000)).toBe(0)
  const [first, second] = printed.split('The disk matches the request.\n')
  expect(first).toContain('first boot done')
  expect(second).toContain('file /etc/motd.d/hello.motd')
  expect(second).toContain('✓ kernel argument console=ttyS0: present')
})

test('the completion that docs/tasks.md writes is a script of bash', { timeout: 60_000 }, async () => {
  const { code, printed } = await followShellGuide('docs/tasks.md', {
    shown: 'output',
    adapt: (text) => `${text}\nbash -n ironstage.bash`,
  })
  expect(code, printed).toBe(0)
})
