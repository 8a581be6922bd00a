import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

test('run init writes a file that run --plan takes; options of commands below run are their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-init-'))
  try {
    const file = join(folder, 'hosts.yaml')
    const init = command(['run', 'init', file])
    expect(await init.ended, init.stderr).toBe(0)
    const schema = JSON.parse(await readFile(join(folder, 'hosts.schema.json'), 'utf8')) as { title: string }
    expect(schema.title).toBe('Hosts of ironstage run')
    const again = command(['run', 'init', file])
    expect(await again.ended).toBe(2)
    expect(again.stderr).toContain(`${file} is there already`)
    const plan = command(['run', file, '--plan'])
    expect(await plan.ended, plan.stderr).toBe(0)
    expect(plan.stdout).toContain('disk      S0000001; no other is written')
    const attach = command(['run', 'attach', 'none', '--state-dir', folder])
    expect(await attach.ended).toBe(2)
    expect(attach.stderr).toContain(`there is no run none in ${folder}, ${join(folder, 'rehearsal')}`)
  } finally {
    await rm(folder, { recursive: true })
  }
})
