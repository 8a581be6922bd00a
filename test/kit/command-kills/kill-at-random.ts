import { expect } from 'vitest'
import { systemClock, type Random } from '../../../base/runtime/index.js'
import { KillGround } from './kill-folder.js'
import { KILLED_COMMANDS } from './rows.js'

const clock = systemClock()
/** How long a command that does not end by itself is left alone at most, in milliseconds. */
const MAX_KILL_DELAY = 2500
/** How long what goes on by itself may take until it has ended. */
const SETTLE_TIMEOUT = 60_000

export interface Kills {
  count: number
  random: Random
  /** How long a command is left alone at most, in milliseconds. */
  longest?: number
  /** How many kills there are before the next look at what is left. */
  together?: number
  /** Times that the commands take when nothing ends them, by their words; the longest for those that are not here. */
  durations?: ReadonlyMap<string, number>
}

/**
 * Ends commands at random moments, by SIGTERM and SIGKILL, each command about as often as another.
 *
 * @throws what an expectation throws: something is left when the next command has run
 */
export async function killAtRandom({
  count,
  random,
  durations = new Map(),
  longest = MAX_KILL_DELAY,
  together = 1,
}: Kills): Promise<void> {
  await using ground = await KillGround.open()
  const names = Object.keys(KILLED_COMMANDS)
  const first = Math.floor(random.next() * names.length)
  const kills: object[] = []
  for (let n = 0; n < count; n++) {
    const name = names[(first + n) % names.length]!
    const signal = random.next() < 0.5 ? 'SIGTERM' : 'SIGKILL'
    const after = random.next() * (durations.get(name) ?? longest)
    const end = await ground.run(KILLED_COMMANDS[name]!, { after, signal })
    const kill = { n, name, signal, after: Math.round(after) }
    expect(end.output, JSON.stringify(kill)).not.toContain('defect')
    kills.push(kill)
    if (kills.length === together || n === count - 1) await gone(ground, kills.splice(0))
  }
}

/** Remains of a kill vanish by themselves or with the next command. */
async function gone(ground: KillGround, kills: object[]): Promise<void> {
  const until = clock.now() + SETTLE_TIMEOUT
  for (;;) {
    const swept = await ground.sweep()
    expect({ kills, codes: swept.map(({ code }) => code) }, swept.map(({ output }) => output).join('\n')).toMatchObject(
      {
        codes: swept.map(() => 0),
      },
    )
    const left = await ground.left()
    if (left.length > 0 && clock.now() < until) continue
    expect({ kills, left }).toEqual({ kills, left: [] })
    return ground.clear()
  }
}

/** Runs every command once without a kill: it must work, so that a kill hits work and not an error. */
export async function rehearsed(): Promise<Map<string, number>> {
  await using ground = await KillGround.open()
  const durations = new Map<string, number>()
  for (const [name, command] of Object.entries(KILLED_COMMANDS)) {
    const end = await ground.run(command, command.ends ? undefined : { after: MAX_KILL_DELAY, signal: 'SIGTERM' })
    if (command.ends) {
      expect({ name, code: end.code }, end.output).toEqual({ name, code: command.code ?? 0 })
      durations.set(name, end.took)
    } else expect({ name, lasted: end.took >= MAX_KILL_DELAY }, end.output).toEqual({ name, lasted: true })
    await ground.clear()
  }
  return durations
}
