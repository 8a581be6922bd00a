import { request } from 'node:http'
import { openStandaloneAgent } from '../../../apps/runs/index.js'
import { NO_PACE, type Machine } from '../../../machine/index.js'
import { openInScope, systemClock, systemRandom, type Logger } from '../../../base/runtime/index.js'
import { managersWith, readHardware } from '../../../steps/index.js'
import { serveHttp } from '../../../base/wire/index.js'
import { FakeIronic } from '../../kit/fake-ironic.js'
import { answering, ipaMachine, type IpaMachine } from '../ipa.js'
import { practice } from '../practice-steps.js'

export interface Asked {
  method?: string
  /** Below the root of the agent's API. */
  path: string
  /** Sent as it is when it is a text, else as JSON. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Parsed when it is JSON. */
  readonly body: unknown
}

/** The real agent and ours, each looked up by an Ironic of its own that gave both the same token, on the same hardware. */
export interface SideBySide extends AsyncDisposable {
  readonly real: (asked: Asked) => Promise<Answer>
  readonly ours: (asked: Asked) => Promise<Answer>
  readonly realMachine: IpaMachine
  readonly ourMachine: Machine
  /** The logs of both, to print after a failure. */
  logged(): Promise<string>
}

export async function sideBySide(): Promise<SideBySide> {
  return openInScope(async (scope) => {
    const clock = systemClock()
    const ironic = async () => {
      const fake = new FakeIronic(() => clock.now())
      const dispatch = (asked: Parameters<Parameters<typeof serveHttp>[0]['dispatch']>[0]) =>
        fake.send({ ...asked, url: asked.base + asked.target, signal: scope.signal })
      return scope.use(await serveHttp({ port: 0, clock, dispatch })).url
    }
    const log: string[] = []
    const logger: Logger = (level, message) => void (level === 'debug' || log.push(`${level}: ${message}`))
    const agent = scope.use(
      await openStandaloneAgent({
        serves: { ironicUrl: await ironic() },
        clock,
        random: systemRandom,
        logger,
        machinePace: NO_PACE,
        // Rows ask by it; IPA takes any name.
        allowedHosts: ['agent.example'],
        managers: managersWith(practice).filter(({ className }) => !LACKING.includes(className)),
        configFiles: [{ name: 'ipa.conf', text: '[DEFAULT]\nenable_auto_tls = False\n' }],
      }),
    )
    const { inventory } = await readHardware(agent.machine.target)
    const real = scope.use(
      await ipaMachine({ ironicUrl: await ironic(), inventory, config: { enable_auto_tls: false } }),
    )
    await real.setBoot({ kind: 'ramdisk', parameters: {} })
    await real.setPower('on')
    await answering(real)
    return {
      real: (asked) => ask(real.address, asked),
      ours: (asked) => ask(new URL(agent.callbackUrl).host, asked),
      realMachine: real,
      ourMachine: agent.machine,
      logged: async () => `${log.join('\n')}\n${await real.logged()}`,
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

/** Hardware managers that the real agent lacks here: one is OpenShift's, the other needs podman. */
const LACKING = ['CoreOSInstallHardwareManager', 'ContainerHardwareManager']

/** Neither follows redirects nor mends what is asked. */
function ask(address: string, { method = 'GET', path, body, headers = {} }: Asked): Promise<Answer> {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const length =
    sent === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(sent) }
  return new Promise((resolve, reject) => {
    const asked = request(`http://${address}`, { method, path, headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const known = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(known) as Answer['headers'],
          body: response.headers['content-type'] === 'application/json' && text ? (JSON.parse(text) as unknown) : text,
        })
      })
    })
    asked.on('error', reject)
    asked.end(sent)
  })
}
