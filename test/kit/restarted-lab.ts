import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  StagedNode,
  openStateFolder,
  composeStage,
  type DeployRequest,
  type LabEvent,
  type Stage,
  type StageOptions,
} from '../../lab/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { seededRandom } from '../../base/runtime/index.js'

/** One life of a lab on a state folder, as a process would lead it. */
export interface Life extends Stage {
  readonly clock: VirtualClock
  node(uuid: string, deployment?: DeployRequest): StagedNode
  wait<T>(awaited: Promise<T>): Promise<T>
  /** Resolves when `moment` comes; from then on nothing of this life reaches anything any more, as if it were killed. */
  killedAt(moment: (event: LabEvent) => boolean): Promise<void>
}

/** A state folder of its own, in which lives of one lab follow each other. */
export async function labFolder() {
  const path = await mkdtemp(join(tmpdir(), 'ironstage-restart-'))
  const lives: Stage[] = []
  let bury: () => void = () => {}
  const dead = new Promise<never>((_, reject) => (bury = () => reject(new Error('this life is over'))))
  dead.catch(() => {})
  let release: () => void = () => {}
  let now = Date.UTC(2026, 0, 1)

  async function live(options: Partial<StageOptions> = {}): Promise<Life> {
    release()
    // A killed process loses its lock; here it is the process's only act after its death.
    const folder = await openStateFolder(path)
    release = () => folder[Symbol.dispose]()
    const clock = new VirtualClock(now)
    const random = seededRandom(lives.length + 1)
    const life = await composeStage({ disks: 'file', ...options, folder, clock, random })
    lives.push(life)
    const wait = <T>(awaited: Promise<T>) => clock.until(awaited)
    return {
      ...life,
      [Symbol.asyncDispose]: () => life[Symbol.asyncDispose](),
      clock,
      wait,
      node: (uuid, deployment = {}) => new StagedNode(life, uuid, wait, deployment),
      killedAt: async (moment) => {
        await new Promise<void>((resolve) => {
          const listening = life.events.listen((event) => {
            if (!moment(event)) return
            listening[Symbol.dispose]()
            life.probe.attach(() => dead)
            const hold = clock.hold('killed')
            dead.catch(() => hold[Symbol.dispose]())
            now = clock.now()
            resolve()
          })
        })
        // Work past its last probe completes, as it would have a moment before the kill.
        for (let round = 0; round < 200; round++) await new Promise((resolve) => setImmediate(resolve))
      },
    }
  }

  return {
    path,
    live,
    [Symbol.asyncDispose]: async () => {
      await lives.at(-1)?.[Symbol.asyncDispose]()
      // Resume the killed work, which has waited until now, so that its files close.
      bury()
      for (const life of lives.slice(0, -1)) await life[Symbol.asyncDispose]()
      release()
      await rm(path, { recursive: true, force: true })
    },
  }
}
