import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { command } from '../../kit/commands/command.js'

test.each([
  {
    what: 'a password that IPMI cannot take',
    argv: ['--ipmi-port', '0'],
    says: /IPMI passwords have at most 20 bytes; this one has 24/,
  },
  {
    what: 'a user that cannot sign in by Basic authentication',
    argv: ['--user', 'rack:7'],
    says: /Basic authentication takes no name with a colon/,
  },
])('ironstage fleet refuses $what before it starts', async ({ argv, says }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const password = join(folder, 'password')
  await writeFile(password, 'p'.repeat(24))
  const fleet = command(['fleet', '--redfish-port', '0', '--password-file', password, ...argv])
  expect(await fleet.ended).toBe(2)
  expect(fleet.stderr).toMatch(says)
  expect(fleet.stdout).toBe('')
})
