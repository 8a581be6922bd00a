import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepOriginals, originals, type Mutant } from '../../kit/damaged-images/corpus.js'
import type { Trial } from '../../kit/damaged-images/trial.js'
import type { Batch } from './mutated/process.js'

/** As many as CI has time for; `MUTANTS=2000` for a long run, `MUTANTS_FROM=1234 MUTANTS=1` for one again. */
const COUNT = Number(process.env['MUTANTS'] ?? 250)
const FROM = Number(process.env['MUTANTS_FROM'] ?? 0)
/** A process takes so many, so that what one image leaves behind is seen. */
const BATCH = 40
const SECONDS = 10
/** Seconds that a trial may take on a busy machine. */
const IMAGE_TRIAL_TIMEOUT = 60
const MEBIBYTES = 300

const main = fileURLToPath(new URL('../../../dist/test/real/programs/mutated/process.js', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-mutated-'))
  await keepOriginals(await originals(), folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Message =
  { ready: true } | { trying: Mutant } | { trial: Trial; mebibytes: number } | { failed: string } | { done: Batch }

/** A defect that the trial of an image showed. */
interface Finding extends Partial<Mutant> {
  command?: string
  why: string
}

/** Tries a batch in a process of its own, which is killed where an image holds it up. */
async function tryBatch(batch: Batch, worker: number): Promise<{ tried: number; findings: Finding[]; peak: number }> {
  const child = fork(main, [folder, join(folder, `${worker}`)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: ['--expose-gc'],
  })
  const findings: Finding[] = []
  let tried = 0
  let peak = 0
  let now: Mutant | undefined
  let late: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    const wait = () => {
      clearTimeout(late)
      late = setTimeout(() => {
        findings.push({ ...now, why: `nothing came of it within ${IMAGE_TRIAL_TIMEOUT} s` })
        child.kill('SIGKILL')
      }, IMAGE_TRIAL_TIMEOUT * 1000)
    }
    wait()
    child.on('message', (message: Message) => {
      if ('trying' in message) {
        now = message.trying
        wait()
      } else if ('trial' in message) {
        tried++
        const { trial, mebibytes } = message
        const { format, seed, command, seconds } = trial
        if (trial.defect !== undefined) findings.push({ format, seed, command, why: trial.defect || 'no sentence' })
        if (seconds > SECONDS) findings.push({ format, seed, command, why: `it took ${seconds} s` })
        if (mebibytes > MEBIBYTES && peak <= MEBIBYTES)
          findings.push({ format, seed, command, why: `it took ${mebibytes} MiB` })
        peak = Math.max(peak, mebibytes)
        wait()
      } else if ('failed' in message) findings.push({ ...now, why: message.failed })
      else if ('done' in message) child.disconnect()
    })
    child.once('exit', (code, signal) => {
      clearTimeout(late)
      if (code !== 0 && signal !== 'SIGKILL') findings.push({ ...now, why: `the process ended with ${code ?? signal}` })
      resolve()
    })
    child.send(batch)
  })
  return { tried, findings, peak }
}

test(`${COUNT} damaged images end within ${SECONDS} s in a sentence, under ${MEBIBYTES} MiB`, async () => {
  const waiting: Batch[] = []
  for (let from = FROM; from < FROM + COUNT; from += BATCH)
    waiting.push({ from, to: Math.min(from + BATCH, FROM + COUNT) })
  const findings: Finding[] = []
  let tried = 0
  const work = async (worker: number) => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      const done = await tryBatch(batch, worker)
      findings.push(...done.findings)
      tried += done.tried
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, (_, worker) => work(worker)))
  expect(findings).toEqual([])
  expect(tried).toBe(COUNT)
}, 1_200_000)
