import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { packageFile } from '../../base/runtime/index.js'

/** Thrown when more passwords wait for their comparison than will be compared soon. */
export class TooManyPasswords extends Error {
  override name = 'TooManyPasswords'
}

/** Comparisons that may wait, of all callers and of one address: each takes a tenth of a second or more. */
const MAX_WAITING = 64
const MAX_WAITING_OF_ADDRESS = 16

interface Comparison {
  password: string
  hash: string
  resolve: (isSame: boolean) => void
  reject: (error: unknown) => void
}

/** A text, so that the sources can start it too: threads read no TypeScript. Its data is the path of bcryptjs. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const { compareSync } = require(workerData)
parentPort.on('message', ({ password, hash }) => parentPort.postMessage(compareSync(password, hash)))
`

/**
 * Compares passwords with their bcrypt hashes in threads of their own: a hash is slow on purpose, and many wrong passwords at
 * once would keep every other request waiting. Addresses take turns, so that one which guesses holds up no other for long.
 */
export class PasswordComparisons {
  readonly #threads: number
  readonly #idle: Worker[] = []
  readonly #waiting = new Map<string, Comparison[]>()
  #running = 0

  constructor(threads = Math.min(2, availableParallelism())) {
    this.#threads = threads
  }

  /**
   * @param address of the caller
   * @throws TooManyPasswords
   */
  isSame(password: string, hash: string, address: string): Promise<boolean> {
    const own = this.#waiting.get(address) ?? []
    const all = [...this.#waiting.values()].reduce((sum, each) => sum + each.length, 0)
    if (own.length >= MAX_WAITING_OF_ADDRESS || all >= MAX_WAITING)
      return Promise.reject(new TooManyPasswords('Too many passwords are being checked: try again in a second'))
    this.#waiting.set(address, own)
    return new Promise((resolve, reject) => {
      own.push({ password, hash, resolve, reject })
      this.#startNext()
    })
  }

  #startNext(): void {
    const [next] = this.#waiting
    if (!next || this.#running >= this.#threads) return
    const [address, own] = next
    const comparison = own.shift()!
    // To the end of the turns.
    this.#waiting.delete(address)
    if (own.length > 0) this.#waiting.set(address, own)
    this.#running++
    this.#run(comparison)
  }

  #run({ password, hash, resolve, reject }: Comparison): void {
    const worker = this.#idle.pop() ?? startWorker()
    const done = (): void => {
      worker.off('message', compared)
      worker.off('error', failed)
      this.#running--
      this.#startNext()
    }
    const compared = (isSame: boolean): void => {
      // An idle thread keeps no process alive.
      worker.unref()
      this.#idle.push(worker)
      done()
      resolve(isSame)
    }
    const failed = (error: unknown): void => {
      done()
      reject(error)
    }
    worker.on('message', compared)
    worker.on('error', failed)
    worker.ref()
    worker.postMessage({ password, hash })
  }
}

function startWorker(): Worker {
  const bcrypt = createRequire(packageFile('package.json')).resolve('bcryptjs')
  return new Worker(PROGRAM, { eval: true, workerData: bcrypt, execArgv: [] })
}
