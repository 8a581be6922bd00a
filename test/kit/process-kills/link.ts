import type { Random } from '../../../base/runtime/index.js'
import { ConnectionFailed, IronicRefused, type IronicClient, type WireResponse } from '../../../base/wire/index.js'
import type { UpProcess } from '../commands/up-process.js'

/** One life of the process, as its clients see it. */
export interface Life {
  client: IronicClient
  /** For what the client has no method for. */
  send(method: string, path: string, body?: unknown): Promise<WireResponse>
  process: UpProcess
  /** Nodes whose agent accepts no command until its next boot: Ironic issued a token that the agent never stored. */
  lockedOut: Set<string>
}

/** The outcome of a request: `unknown` when the process was killed during it. */
export type Answer = 'accepted' | 'refused' | 'unknown'

/** Lets clients through only while a process serves and may be talked to. */
export class Link {
  #life: Life | undefined
  #waiting: ((life: Life) => void)[] = []
  #stopped = false

  get stopped(): boolean {
    return this.#stopped
  }

  open(life: Life): void {
    this.#life = life
    for (const go of this.#waiting.splice(0)) go(life)
  }

  close(): void {
    this.#life = undefined
  }

  /** Clients end with their current action. */
  stop(): void {
    this.#stopped = true
  }

  life(): Promise<Life> {
    return this.#life ? Promise.resolve(this.#life) : new Promise((go) => this.#waiting.push(go))
  }

  /** One action after the other with a rest between, in milliseconds, until clients are stopped. */
  async keepAt(action: (life: Life) => Promise<void>, rest: number): Promise<void> {
    while (!this.#stopped) {
      await action(await this.life())
      await pause(rest)
    }
  }
}

/** @throws any error but a kill and a lock of another client */
export async function answered(request: Promise<unknown>): Promise<Answer> {
  try {
    await request
    return 'accepted'
  } catch (error) {
    if (error instanceof ConnectionFailed) return 'unknown'
    if (error instanceof IronicRefused && error.status === 409) return 'refused'
    throw error
  }
}

/** A value, or undefined when the process was killed before it answered. */
export async function seen<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ConnectionFailed) return undefined
    throw error
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const pick = <T>(random: Random, of: readonly T[]): T | undefined => of[Math.floor(random.next() * of.length)]
