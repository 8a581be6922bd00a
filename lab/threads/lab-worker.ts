/** A thread of a lab with many: runs shards, one at a time, as {@link Round}s ask for. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Round, ThreadSettings } from './thread-messages.js'
import { ShardRunner } from './shard-runner.js'

const port = parentPort!
const runner = new ShardRunner(workerData as ThreadSettings)
process.on('uncaughtException', (error) => runner.failed(error))

port.on('message', (message: Round | 'close') => {
  if (message === 'close') void runner[Symbol.asyncDispose]().finally(() => port.close())
  else void runner.run(message).then((report) => port.postMessage(report))
})
