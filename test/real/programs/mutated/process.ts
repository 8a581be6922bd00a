import { cachedOriginals, mutants } from '../../../kit/damaged-images/corpus.js'
import { trials } from '../../../kit/damaged-images/trial.js'

/** A batch of trials for a process. */
export interface Batch {
  from: number
  to: number
}

const [originals, folder] = process.argv.slice(2)
const send = (message: unknown): void => void process.send!(message)

await using tried = await trials(await cachedOriginals(originals!), folder!)
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => {
    send({ failed: `${event}: ${error instanceof Error ? error.stack : String(error)}` })
    process.exit(1)
  })
send({ ready: true })
for await (const batch of batches()) {
  for (const mutant of mutants(batch.from, batch.to)) {
    // Collect garbage, so that a trial does not pay for that of an earlier one.
    globalThis.gc?.()
    send({ trying: mutant })
    send({ trial: await tried.run(mutant), mebibytes: Math.ceil(process.resourceUsage().maxRSS / 1024) })
  }
  send({ done: batch })
}

async function* batches(): AsyncGenerator<Batch> {
  const waiting: Batch[] = []
  let wake = () => {}
  process.on('message', (batch: Batch) => {
    waiting.push(batch)
    wake()
  })
  process.once('disconnect', () => process.exit(0))
  for (;;) {
    const next = waiting.shift()
    if (next) yield next
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}
