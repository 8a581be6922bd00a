import { expect, test } from 'vitest'
import { registryServer } from '../kit/registry/registry-server.js'
import { command } from '../kit/commands/command.js'

test('a command that waits for a registry says so on standard error', async () => {
  // The first answer comes when the client has said that it waits.
  let release = (): void => {}
  const waited = new Promise<void>((resolve) => void (release = resolve))
  await using registry = await registryServer({ fault: () => waited.then(() => false) })
  const run = command(['release', 'info', `${registry.host}/release:1`])
  await expect.poll(() => run.stderr, { timeout: 20_000 }).toContain('waiting for')
  release()
  expect(await run.ended).toBe(1)
  const [first] = run.stderr.split('\n')
  expect(first).toBe(
    `ironstage: waiting for the registry ${registry.host}, which has not answered for 5 s; it has 60 s`,
  )
  expect(run.stderr).toContain(`the registry ${registry.host} has no ${registry.host}/release:1`)
}, 30_000)
