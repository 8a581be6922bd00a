import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runCommand, type CommandEnd, type CommandEvent, type KillMoment } from '../process-kills/killed-command.js'
import { hostsYaml } from './hosts-yaml.js'

/** Milliseconds that a rehearsal of a few hosts may take on a machine that does much else. */
const LONGEST = 240_000
/** Stages that wait for a system give up long before: what hangs in one is told by its name. */
const LIMITS = 'stages: {boot: {time: 60s}, ssh: {time: 60s}, first-boot: {time: 60s}}'

/** The stages of a rehearsed run. */
export const REHEARSED_STAGES = ['bmc', 'boot', 'ssh', 'check', 'steps', 'power', 'first-boot']

/** The moment at which a stage of a run has begun or ended. */
export const atStage =
  (stage: string, status: 'started' | 'done') =>
  (event: CommandEvent): boolean =>
    event['event'] === 'stage' && event['stage'] === stage && event['status'] === status

/**
 * Kills a rehearsed run at a moment, and goes on with it: every host gets installed.
 *
 * @returns whether it was killed before it had ended
 */
export async function goesOnAfterKill(hosts: number, kill: KillMoment, name: string): Promise<boolean> {
  const cwd = await mkdtemp(join(tmpdir(), 'ironstage-killed-run-'))
  try {
    await writeFile(join(cwd, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(join(cwd, 'hosts.yaml'), hostsYaml(hosts, LIMITS))
    const argv = ['run', 'hosts.yaml', '--rehearse', '--no-ui']
    const first = await runCommand(argv, { cwd, kill, within: LONGEST })
    expect(first.hangs, name).toBe(false)
    if (first.code !== null) return false
    const isBegun = first.events.some(({ event }) => event === 'run')
    const next = await runCommand([...argv, ...(isBegun ? ['--resume'] : [])], { cwd, within: LONGEST })
    expect({ name, hangs: next.hangs, code: next.code, last: lastOf(next) }, next.stderr).toEqual({
      name,
      hangs: false,
      code: 0,
      last: lastOf(next),
    })
    return true
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/** The last events of a run that did not end as it should. */
const lastOf = ({ code, events }: CommandEnd): CommandEvent[] => (code === 0 ? [] : events.slice(-12))
