import {
  loadManagers,
  openRealAgent,
  openStandaloneAgent,
  type RealTargetRequest,
  type StandaloneAgentOptions,
} from '../../runs/index.js'
import type { AgentSearch } from '../../../agent/index.js'
import { openStateFolder } from '../../../lab/index.js'
import {
  defined,
  systemClock,
  systemRandom,
  urlSafeToken,
  userError,
  type Clock,
  type ConfigFile,
} from '../../../base/runtime/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { readOneMachine } from '../options/hardware-file.js'
import { makeCacheRequest } from '../options/cache-request.js'
import { logTo } from '../output/command-log.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { onlyShown, openFor, realTarget } from '../options/target-options.js'
import type { AGENT_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

type AgentCommandOptions = CommandOptionValues<(typeof AGENT_OPTIONS)[number]>

/** `ironstage agent`: one agent until a signal stops it, or until its machine was switched off. */
export async function agent(
  options: AgentCommandOptions,
  environment: Environment,
  configFiles: readonly ConfigFile[],
): Promise<number> {
  const real = realTarget(options)
  checkAgentOptions(options)
  if (real) return realAgent(options, real, environment, configFiles)
  if (options.plan)
    throw usageError('--plan is for a real target: a simulated machine has nothing to lose', 'leave --plan out')
  const { stdout, stopped } = environment
  const json = options.json ?? false
  const say: SayEvent = (event, text, fields) => stdout.either(json, { event, ...fields }, text)
  const { 'state-dir': stateDir, machine: id, mac } = options
  const hardware = options.hardware === undefined ? undefined : await readOneMachine(options.hardware)
  const managers = options.steps && (await loadManagers(options.steps))
  using folder = stateDir === undefined ? undefined : await openStateFolder(stateDir)
  const serves = servedBy(options)
  const clock = systemClock(options.speed ?? 1)
  const images = await makeCacheRequest(options, environment)
  await using running = await withIronic(() =>
    openStandaloneAgent({
      serves,
      parameters: parameters(options['kernel-params'] ?? ''),
      configFiles,
      ...defined({ listen: options.listen === undefined ? undefined : parseHostPort(options.listen) }),
      allowedHosts: options['allowed-host'],
      machine:
        folder && id !== undefined
          ? { folder, id }
          : defined({ mac: mac === undefined ? undefined : mac.toLowerCase(), hardware }),
      respawn: options.respawn ?? false,
      ...defined({ managers }),
      images,
      clock,
      random: systemRandom,
      logger: logTo(environment, json),
      onSearch: tellSearch(say, clock, serves),
      onBoot: (boot) => say('boot', 'the ramdisk is up', { boot }),
      onProgress: (progress) => {
        const text =
          progress.kind === 'stage' ? progress.name : progress.kind === 'percent' ? `${progress.value} %` : null
        if (text !== null || json) say('progress', `${progress.step}: ${text}`, { ...progress })
      },
    }),
  )
  const macs = running.machine.spec.nics.map((nic) => nic.mac)
  const { apiUrls, inspectionUrls } = running.settings
  const ironic = apiUrls[0] ?? inspectionUrls[0]
  const known = 'token' in serves ? `, token ${serves.token}` : ` for the Ironic at ${ironic}`
  say('ready', `the agent of the machine with MAC address ${macs[0]} is at ${running.callbackUrl}${known}`, {
    callback_url: running.callbackUrl,
    macs,
    ...('token' in serves ? { token: serves.token } : { ironic_url: ironic }),
  })
  await Promise.race([running.ended, stopAsked(stopped)])
  if (stopped.aborted) say('stopped', 'the agent stops')
  else say('off', 'the machine was switched off; use --respawn to boot it again after a power-off')
  return 0
}

/** An agent that works on a real machine, whose power it never switches. */
async function realAgent(
  options: AgentCommandOptions,
  request: RealTargetRequest,
  environment: Environment,
  configFiles: readonly ConfigFile[],
): Promise<number> {
  for (const name of ['mac', 'hardware', 'state-dir', 'machine', 'respawn', 'speed'] as const)
    if (options[name] !== undefined)
      throw usageError(`--${name} is for a simulated machine`, `leave --${name} out, or use --target sim`)
  const { stdout, stopped } = environment
  const { json = false, 'kernel-params': kernelParams = '' } = options
  const clock = systemClock()
  const say: SayEvent = (event, text, fields) => stdout.either(json, { event, ...fields }, text)
  const shown = await onlyShown(request, options, 'every request of its Ironic', environment, clock)
  if (shown !== undefined) return shown
  const managers = options.steps && (await loadManagers(options.steps))
  const serves = servedBy(options)
  const images = await makeCacheRequest(options, environment)
  await using on = await openFor({ ...request, images }, environment, clock, json)
  await using running = await withIronic(() =>
    openRealAgent({
      on,
      serves,
      configFiles,
      clock,
      random: systemRandom,
      logger: logTo(environment, json),
      parameters: parameters(kernelParams),
      resume: true,
      onSearch: tellSearch(say, clock, serves),
      ...defined({ listen: options.listen === undefined ? undefined : parseHostPort(options.listen) }),
      allowedHosts: options['allowed-host'],
      ...defined({ managers }),
    }),
  )
  const { callbackUrl, ironicUrl } = running
  const token = 'token' in serves ? { token: serves.token } : {}
  const url = ironicUrl === undefined ? {} : { ironic_url: ironicUrl }
  const caller = 'token' in token ? `, token ${token.token}` : ` for the Ironic at ${ironicUrl}`
  stdout.either(
    json,
    { event: 'ready', callback_url: callbackUrl, ...token, ...url },
    `the agent on ${request.target} is at ${callbackUrl}${caller}`,
  )
  await stopAsked(stopped)
  return 0
}

type SayEvent = (event: string, text: string, fields?: Record<string, unknown>) => void

/** Time after which an agent that still waits says so again, in milliseconds. */
const WAITING_INTERVAL = 60_000

/** Says what an agent waits for at once, when that changes, and again after a while. */
function tellSearch(
  say: SayEvent,
  clock: Clock,
  serves: StandaloneAgentOptions['serves'],
): (search: AgentSearch) => void {
  const since = clock.now()
  let reported: { missing: AgentSearch['missing']; at: number } | undefined
  return ({ missing, why }) => {
    const now = clock.now()
    if (reported?.missing === missing && now - reported.at < WAITING_INTERVAL) return
    reported = { missing, at: now }
    const seconds = Math.round((now - since) / 1000)
    const url = 'ironicUrl' in serves && serves.ironicUrl ? `at ${serves.ironicUrl}` : 'of its settings'
    const { end, remedy } = SEARCHES[missing]
    const text = `the agent waits until the Ironic ${url} ${end}, for ${seconds} s by now: ${why}; ${remedy}`
    say('waiting', text, { missing, seconds, why, remedy })
  }
}

/** The end of each wait, and what brings it about. */
const SEARCHES: Readonly<Record<AgentSearch['missing'], { readonly end: string; readonly remedy: string }>> = {
  ironic: { end: 'answers', remedy: 'start it, or correct --ironic-url' },
  node: {
    end: 'gives it its node',
    remedy:
      'enroll a node with a port of its MAC address, or name one with --node-uuid, and let Ironic inspect, clean or deploy it',
  },
}

/** A remedy of the agent that speaks of kernel parameters names an option here. */
async function withIronic<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (userError(error)?.code !== 'agent-api-url') throw error
    throw usageError(
      'an agent needs its Ironic',
      'name it with --ironic-url, as ipa-api-url in --kernel-params or as api_url in a config file; or use --standalone',
    )
  }
}

function servedBy(options: AgentCommandOptions): StandaloneAgentOptions['serves'] {
  if (options.standalone) return { token: options.token ?? urlSafeToken(systemRandom) }
  const { 'ironic-url': ironicUrl, 'node-uuid': nodeUuid } = options
  return defined({ ironicUrl, nodeUuid })
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

function parseHostPort(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':')
  const port = Number(text.slice(at + 1))
  if (port > 65_535)
    throw usageError(
      `--listen is ${text}, and there is no port ${port}`,
      'name a port up to 65535, or 0 for a free one',
    )
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port }
}

function checkAgentOptions(options: AgentCommandOptions): void {
  const { standalone = false, 'state-dir': folder, machine } = options
  if (!standalone && options.token !== undefined)
    throw usageError(
      '--token is for a standalone agent; every other agent gets its token from Ironic',
      'leave it out, or use --standalone; a token made beforehand is the kernel parameter ipa-agent-token',
    )
  for (const name of ['ironic-url', 'node-uuid'] as const)
    if (standalone && options[name] !== undefined)
      throw usageError(`--${name} means nothing to a standalone agent, which has no Ironic`, `leave --${name} out`)
  if ((folder === undefined) !== (machine === undefined))
    throw usageError('--state-dir and --machine go together', 'name a state folder and one of its machines, or neither')
  for (const name of ['mac', 'hardware'] as const)
    if (machine !== undefined && options[name] !== undefined)
      throw usageError(`--${name} is for a new machine; a machine of a state folder has its own`, `leave --${name} out`)
}
