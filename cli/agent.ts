import {
  loadManagers,
  openStandaloneAgent,
  openStateFolder,
  systemClock,
  systemRandom,
  urlSafeToken,
  UserError,
  userError,
  type ConfigFile,
  type StandaloneAgent,
  type StandaloneAgentOptions,
} from '../lab/index.js'
import type { Environment } from './environment.js'
import { readHardware } from './hardware-file.js'
import { logTo } from './log.js'
import type { Options } from './options.js'
import { simulatedOnly } from './target.js'

export const AGENT_OPTIONS = [
  'ironic-url',
  'target',
  'node-uuid',
  'mac',
  'hardware',
  'state-dir',
  'machine',
  'listen',
  'kernel-params',
  'respawn',
  'steps',
  'standalone',
  'token',
  'speed',
  'json',
] as const

type AgentOptions = Options<(typeof AGENT_OPTIONS)[number]>

/** `ironstage agent`: one agent until a signal stops it, or until its machine was switched off. */
export async function agent(
  options: AgentOptions,
  environment: Environment,
  _operand: string,
  configFiles: readonly ConfigFile[],
): Promise<number> {
  simulatedOnly(options.target)
  refuseContradictions(options)
  const { stdout, stopped } = environment
  const json = options.json ?? false
  const say = (event: string, text: string, fields: Record<string, unknown> = {}) =>
    void stdout.write(json ? `${JSON.stringify({ event, ...fields })}\n` : `${text}\n`)
  const { 'state-dir': stateDir, machine: id, mac } = options
  const hardware = options.hardware === undefined ? undefined : await readHardware(options.hardware)
  const managers = options.steps && (await loadManagers(options.steps))
  using folder = stateDir === undefined ? undefined : await openStateFolder(stateDir)
  const serves = servedBy(options)
  await using running = await opened({
    serves,
    parameters: parameters(options['kernel-params'] ?? ''),
    configFiles,
    ...(options.listen === undefined ? {} : { listen: address(options.listen) }),
    machine:
      folder && id !== undefined
        ? { folder, id }
        : { ...(mac === undefined ? {} : { mac: mac.toLowerCase() }), ...(hardware ? { hardware } : {}) },
    respawn: options.respawn ?? false,
    ...(managers ? { managers } : {}),
    clock: systemClock(options.speed ?? 1),
    random: systemRandom,
    logger: logTo(environment, json),
    onBoot: (boot) => say('boot', 'the ramdisk is up', { boot }),
    onProgress: (progress) => {
      const told =
        progress.kind === 'stage' ? progress.name : progress.kind === 'percent' ? `${progress.value} %` : null
      if (told !== null || json) say('progress', `${progress.step}: ${told}`, { ...progress })
    },
  })
  const macs = running.machine.spec.nics.map((nic) => nic.mac)
  const { apiUrls, inspectionUrls } = running.settings
  const ironic = apiUrls[0] ?? inspectionUrls[0]
  const known = 'token' in serves ? `, token ${serves.token}` : ` for the Ironic at ${ironic}`
  say('ready', `the agent of the machine with MAC address ${macs[0]} is at ${running.callbackUrl}${known}`, {
    callback_url: running.callbackUrl,
    macs,
    ...('token' in serves ? { token: serves.token } : { ironic_url: ironic }),
  })
  await Promise.race([running.ended, aborted(stopped)])
  if (stopped.aborted) say('stopped', 'the agent stops')
  else say('off', 'the machine was switched off; with --respawn its power would come back')
  return 0
}

/** What an agent on any ramdisk says about its kernel's parameters has a shorter way here. */
async function opened(options: StandaloneAgentOptions): Promise<StandaloneAgent> {
  try {
    return await openStandaloneAgent(options)
  } catch (error) {
    if (userError(error)?.code !== 'AGENT_API_URL') throw error
    throw usage(
      'an agent needs its Ironic',
      'name it with --ironic-url, as ipa-api-url in --kernel-params or as api_url in a config file; or use --standalone',
    )
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

function servedBy(options: AgentOptions): StandaloneAgentOptions['serves'] {
  if (options.standalone) return { token: options.token ?? urlSafeToken(systemRandom) }
  const { 'ironic-url': ironicUrl, 'node-uuid': nodeUuid } = options
  return { ...(ironicUrl === undefined ? {} : { ironicUrl }), ...(nodeUuid === undefined ? {} : { nodeUuid }) }
}

/** Words `name=value`; a word without `=` is a switch, as on a kernel command line. */
function parameters(text: string): Record<string, string> {
  const words = text.split(/\s+/).filter((word) => word !== '')
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}

function address(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':')
  const port = Number(text.slice(at + 1))
  if (port > 65_535)
    throw usage(`--listen is ${text}, and there is no port ${port}`, 'name a port up to 65535, or 0 for a free one')
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port }
}

const usage = (message: string, remedy: string) => new UserError('usage', message, { kind: 'usage', remedy })

function refuseContradictions(options: AgentOptions): void {
  const { standalone = false, 'state-dir': folder, machine } = options
  if (!standalone && options.token !== undefined)
    throw usage(
      '--token is of a standalone agent; any other gets its token from Ironic',
      'leave it out, or use --standalone; a token made beforehand is the kernel parameter ipa-agent-token',
    )
  for (const name of ['ironic-url', 'node-uuid'] as const)
    if (standalone && options[name] !== undefined)
      throw usage(`--${name} means nothing to a standalone agent, which has no Ironic`, `leave --${name} out`)
  if ((folder === undefined) !== (machine === undefined))
    throw usage('--state-dir and --machine go together', 'name a state folder and one of its machines, or neither')
  for (const name of ['mac', 'hardware'] as const)
    if (machine !== undefined && options[name] !== undefined)
      throw usage(`--${name} is of a new machine; those of a state folder have their own`, `leave --${name} out`)
}
