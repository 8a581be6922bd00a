// Logs in to one port 50 times as if to 50 hosts, runs something that talks on each, and says what that took:
// many-hosts.mjs PORT HOST-KEY HOME. Uses what was built, as users do.
import { silent, systemClock, systemRandom } from '../../../dist/base/runtime/index.js'
import { openSshShell, parsePins, parseSshTarget } from '../../../dist/targets/index.js'
import { SupervisedExecutor } from '../../../dist/targets/supervised/supervised-executor.js'

const [port, pin, home] = process.argv.slice(2)
const clock = systemClock()
const secrets = { ask: () => Promise.resolve(null) }
let peak = 0
const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)

async function host() {
  const shell = await openSshShell({
    address: parseSshTarget(`ssh://root@127.0.0.1:${port}`),
    surroundings: { home, userName: 'root', agentSocket: null, configFile: null },
    ...{ pins: parsePins([pin]), secrets, clock, random: systemRandom, logger: silent },
  })
  const executor = new SupervisedExecutor({ shell, clock, random: systemRandom })
  const script = 'n=0; while [ $n -lt 200 ]; do echo "Read disk $n MiB"; n=$((n + 1)); done; sleep 20'
  const run = await executor.start({ argv: ['sh', '-c', script], effect: 'writes' })
  let text = ''
  for await (const { bytes } of run.output) text += Buffer.from(bytes).toString()
  await executor[Symbol.asyncDispose]()
  await shell[Symbol.asyncDispose]()
  return text.split('\n').length - 1
}

const counts = await Promise.all(Array.from({ length: 50 }, host))
clearInterval(watch)
process.stdout.write(JSON.stringify({ hosts: counts.length, lines: counts.reduce((a, b) => a + b, 0), peak }))
