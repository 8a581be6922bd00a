import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atStage, goesOnAfterKill } from '../../kit/hardware-lab/killed-runs.js'
import { runCommand } from '../../kit/process-kills/killed-command.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Commands get a SIGKILL at a stage of their work. `test/soak/kill-rehearsed-runs.test.ts` has every stage of a run. */

test.each([
  ['in boot', 'boot', 'started', 20],
  ['when boot has ended', 'boot', 'done', 0],
  ['in steps', 'steps', 'started', 300],
  ['in power', 'power', 'started', 30],
] as const)('a rehearsed run that is killed %s continues', async (name, stage, status, later) => {
  expect(await goesOnAfterKill(2, { after: atStage(stage, status), later }, name)).toBe(true)
})

test.each(['inspect', 'deploy', 'first boot'])(
  'a deployment that is killed in %s is made again on its disk',
  async (stage) => {
    const cwd = await mkdtemp(join(tmpdir(), 'ironstage-killed-deploy-'))
    try {
      const argv = ['deploy', '--disk-file', 'disk.img', '--overwrite']
      const after = atStage(stage, 'started')
      const first = await runCommand(argv, { cwd, kill: { after }, within: REAL_PEER_TIMEOUT })
      expect({ hangs: first.hangs, code: first.code }, JSON.stringify(first.events)).toEqual({
        hangs: false,
        code: null,
      })
      const next = await runCommand(argv, { cwd, within: REAL_PEER_TIMEOUT })
      expect({ hangs: next.hangs, code: next.code }, next.stderr).toEqual({ hangs: false, code: 0 })
    } finally {
      await rm(cwd, { recursive: true })
    }
  },
)
