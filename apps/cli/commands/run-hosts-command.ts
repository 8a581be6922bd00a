import { rm, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import {
  checkForIronic,
  checkHosts,
  MACHINE_POLL_INTERVAL,
  expectedTimes,
  githubAnnotations,
  gitlabCodeQuality,
  junitXml,
  nothingToResume,
  explainFolderError,
  openImageHost,
  openRehearsal,
  openRunPage,
  readHosts,
  realAccess,
  refuseRunning,
  refuseUnfinished,
  takeMachines,
  reportHtml,
  RunFolder,
  RunFollower,
  runHosts,
  runMarkdown,
  runPlanText,
  stageNames,
  type Host,
  type HostsFile,
  type Rehearsal,
  type IronicElsewhere,
  type RunEvent,
  type RunHostsOptions,
  type RunReport,
} from '../../hardware-lab/index.js'
import { loadManagers } from '../../runs/index.js'
import { defined, nearestWord, systemClock, systemRandom, type Clock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import { appendReport, checkReport, writeReport } from '../output/write-output.js'
import { accessOf, endpointOf } from '../options/ironic-access.js'
import { makeCacheRequest } from '../options/cache-request.js'
import type { RUN_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { secretSource, targetEnvironment } from '../options/secret-source.js'
import { logTo } from '../output/command-log.js'
import { runView, type RunView } from '../output/run-progress.js'
import { isDashboardServed, openDashboard } from './dashboard-command.js'
import { faultsIn } from './fault-command.js'
import { usageError } from '../usage-error.js'

type RunCommandOptions = CommandOptionValues<(typeof RUN_OPTIONS)[number]>

/** `ironstage run`: exit code 1 for failed hosts, 2 for a file that is refused; 0 when `--resume` finds nothing to go on with. */
export async function run(options: RunCommandOptions, environment: Environment, path = 'hosts.yaml'): Promise<number> {
  checkRunOptions(options)
  const file = await readHosts(path)
  const hosts = chosen(file, options.only)
  const parallel = options.parallel ?? file.run.parallel ?? 4
  const maxFailures = options['max-failures'] ?? file.run['max-failures']
  const { canary } = file.run
  const throughIronic = ironicUrlOf(options, environment)
  const { json = false, plan = false } = options
  await checkHosts(hosts, {
    folder: file.folder,
    variables: environment.variables,
    signal: environment.stopped,
    managersOf: (host) => managersOf(host, file.folder),
  })
  if (throughIronic !== undefined) checkForIronic(hosts)
  if (plan) {
    const lines = runPlanText(hosts, { parallel, ...defined({ canary, ironic: throughIronic }) })
    environment.stdout.either(options.json, { event: 'plan', lines }, lines)
    return 0
  }
  for (const report of reportFiles(options)) await checkReport(report)
  const folder = await openRunFolder(options, environment, path, json)
  if (!folder) return 0
  const { rehearse = false } = options
  const times = await expectedTimes(folder, { rehearsed: rehearse, throughIronic: throughIronic !== undefined })
  const clock = systemClock()
  const view = runView(environment, { json, times, clock })
  const isCheck = options.check ?? false
  const stages = stageNames({ throughIronic: throughIronic !== undefined, isCheck })
  const follower = new RunFollower({ isRehearsal: rehearse, isCheck, stages })
  using ctrlC = stopByCtrlC(environment, follower)
  const shared = {
    file: path,
    folder,
    parallel,
    checkOnly: isCheck,
    resume: options.resume ?? false,
    restart: options.restart ?? false,
    ...defined({ maxFailures, canary }),
    managersOf: (host: Host) => managersOf(host, file.folder),
    clock,
    random: systemRandom,
    logger: logTo(environment, json),
    signal: environment.stopped,
    onBegun: follower.began,
    onEvent: (event: RunEvent) => {
      follower.see(event)
      view.show(event)
    },
    stopping: ctrlC.stopping,
  }
  const finish = (report: RunReport) => finished(report, { view, file, options, folder, environment })
  const running = rehearse
    ? rehearsed(options, environment, { file, hosts, shared, follower, finish })
    : onRealHosts(options, environment, { file, hosts, shared, follower, finish, throughIronic })
  return await untilStopped(running, view, environment, { path, folder, options })
}

/** The folder of the run; null when `--resume` finds nothing to resume, which is then printed. */
async function openRunFolder(
  options: RunCommandOptions,
  { stdout }: Environment,
  path: string,
  json: boolean,
): Promise<RunFolder | null> {
  const folder = await RunFolder.open(stateFolder(options, path))
  // A rehearsal would forget its machines otherwise.
  await refuseRunning(folder)
  const why = options.resume ? await nothingToResume(folder) : undefined
  if (why !== undefined) {
    stdout.either(json, { event: 'nothing-to-resume', why }, why)
    return null
  }
  await refuseUnfinished(folder, { ...options, checkOnly: options.check ?? false })
  return folder
}

/** How a run ends that the user has asked to stop. */
type StopWish = 'no' | 'after the hosts' | 'after the stage'

/**
 * Ctrl-C on a terminal: the first lets the run finish the hosts under way, the second only their stages; the third is left
 * to the process, which leaves at once.
 */
function stopByCtrlC(environment: Environment, follower: RunFollower): Disposable & { stopping: () => StopWish } {
  let wish: StopWish = 'no'
  const handler = environment.onInterrupt?.(() => {
    // Without a terminal there is no user to press it again.
    if (!environment.stdout.isTTY || wish === 'after the stage' || follower.isOver) return false
    wish = wish === 'no' ? 'after the hosts' : 'after the stage'
    environment.stderr.line(
      wish === 'after the hosts'
        ? 'finishing the started hosts; Ctrl-C again: only their current stages; a third time: exit at once'
        : 'stopping after the current stages; Ctrl-C again: exit at once',
    )
    return true
  })
  return {
    stopping: () => wish,
    [Symbol.dispose]: () => handler?.[Symbol.dispose](),
  }
}

type SharedRunOptions = Omit<RunHostsOptions, 'hosts' | 'locks' | 'access'>

async function onRealHosts(
  options: RunCommandOptions,
  environment: Environment,
  parts: RunCommandParts,
): Promise<number> {
  const { file, hosts, shared, throughIronic } = parts
  const { clock, random, logger, folder } = shared
  await using ironic =
    throughIronic === undefined ? undefined : await openIronicElsewhere(throughIronic, environment, clock)
  const { 'serve-image': address } = options
  const images = await makeCacheRequest(options, environment)
  await using served = address === undefined ? undefined : await openImageHost({ address, clock, random, logger })
  return await withDashboard(options, environment, parts, () =>
    runHosts({
      ...defined({ ironic: ironic ? ironic.elsewhere : undefined }),
      ...shared,
      hosts,
      locks: join(homeOf(environment), '.cache/ironstage/run-locks'),
      access: realAccess({
        file,
        folder: folder.path,
        variables: environment.variables,
        secrets: secretSource(environment),
        environment: targetEnvironment(environment),
        images,
        clock,
        random,
        logger,
        ...defined({ reach: served ? served.reach : undefined }),
      }),
    }),
  )
}

/** Serves the dashboard while a run goes on, unless it is left out. Its pages see the end after the reports are written. */
async function withDashboard(
  options: RunCommandOptions,
  { variables }: Environment,
  {
    shared,
    follower,
    finish,
    control,
  }: Pick<RunCommandParts, 'shared' | 'follower' | 'finish'> & Partial<Pick<Rehearsal, 'control'>>,
  go: () => Promise<RunReport>,
): Promise<number> {
  if (!isDashboardServed(options)) return finish(await go())
  const { clock, random, logger, folder, onEvent } = shared
  await using page = await openRunPage(follower, {
    ...defined({ control }),
    folder: folder.path,
    clock,
    random,
    logger,
  })
  onEvent({ event: 'dashboard', url: page.url })
  openDashboard(page.url, options, { variables, logger })
  const report = await go()
  const code = await finish(report)
  follower.ended(join(folder.path, 'reports', `${report.id}.html`))
  await page.seen(shared.signal)
  return code
}

/** The Ironic at a URL, with the credentials that the environment has for it. */
async function openIronicElsewhere(
  url: string,
  { variables }: Environment,
  clock: Clock,
): Promise<AsyncDisposable & { elsewhere: IronicElsewhere }> {
  const { headers, tls } = await accessOf(variables)
  const transport = new HttpTransport({ clock, tls, connections: 8 })
  return {
    elsewhere: { url, client: new IronicClient({ transport, endpoint: url, headers, clock }) },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** URL of `--through-ironic`; credentials in it would be in reports. */
function ironicUrlOf({ 'through-ironic': named }: RunCommandOptions, { variables }: Environment): string | undefined {
  const url = named === 'env' ? endpointOf(variables) : named
  if (url === undefined) return undefined
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && parsed.username === '' && parsed.password === '') return url.replace(/\/+(v1\/*)?$/, '')
  throw usageError(
    `--through-ironic ${parsed ? 'has a password in its URL' : 'is not a URL'}`,
    'set OS_AUTH_TYPE=http_basic, OS_USERNAME and OS_PASSWORD, and name the URL alone',
    'run-options',
  )
}

interface RunCommandParts {
  file: HostsFile
  hosts: readonly Host[]
  shared: SharedRunOptions
  follower: RunFollower
  /** Shows and writes the report, and returns the exit code. */
  finish: (report: RunReport) => Promise<number>
  throughIronic?: string | undefined
}

async function rehearsed(
  options: RunCommandOptions,
  environment: Environment,
  { file, hosts, shared, follower, finish }: RunCommandParts,
): Promise<number> {
  const { faults, seed = 1, resume = false } = options
  using _ = await takeMachines(shared.folder)
  const folder = join(shared.folder.path, 'machines')
  if (!resume) await rm(folder, { recursive: true, force: true })
  await using lab = await openRehearsal({
    file,
    hosts,
    folder,
    seed,
    run: follower.progress,
    variables: environment.variables,
    faults: faults === undefined ? [] : await faultsIn([faults], environment),
    clock: shared.clock,
    random: shared.random,
    logger: shared.logger,
  })
  const { access, hosts: simulated, control } = lab
  const signal = AbortSignal.any([shared.signal, lab.broken])
  return await withDashboard(options, environment, { shared, follower, finish, control }, () =>
    runHosts({
      ...shared,
      hosts: simulated,
      access,
      locks: null,
      rehearsed: true,
      every: MACHINE_POLL_INTERVAL,
      signal,
    }),
  )
}

/** Ends the view, and says how a run that was stopped goes on; a check begins again. */
async function untilStopped(
  running: Promise<number>,
  view: RunView,
  { stopped, stderr }: Environment,
  { path, folder, options }: { path: string; folder: RunFolder; options: RunCommandOptions },
): Promise<number> {
  try {
    return await running
  } catch (error) {
    if (stopped.aborted && options.check) stderr.line(`check again with: ${commandAgain(path, options)} --check`)
    else if (stopped.aborted) stderr.line(`continue the run with: ${commandAgain(path, options)} --resume`)
    throw explainFolderError(folder.path, error)
  } finally {
    view.end()
  }
}

/** The command line of a run with what makes it another one: its state folder, and whether it is a rehearsal. */
const commandAgain = (path: string, { rehearse, 'state-dir': stateDir }: RunCommandOptions): string =>
  [
    `ironstage run ${path}`,
    ...(rehearse ? ['--rehearse'] : []),
    ...(stateDir === undefined ? [] : [`--state-dir ${stateDir}`]),
  ].join(' ')

interface EndedRun {
  view: RunView
  file: HostsFile
  options: RunCommandOptions
  folder: RunFolder
  environment: Environment
}

async function finished(report: RunReport, ended: EndedRun): Promise<number> {
  const { view, options, folder, environment } = ended
  view.end()
  view.report(report)
  if (report.ended_at === null && !report.check_only)
    environment.stderr.line(`the run ${report.id} continues with: ironstage run attach ${report.id}`)
  const consoles: Record<string, string> = {}
  for (const { host } of report.hosts)
    consoles[host] = await readFile(join(folder.path, 'console', `${host}.log`), 'utf8').catch(() => '')
  const html = reportHtml(report, consoles)
  await folder.write(`reports/${report.id}.html`, html)
  await folder.write(`reports/${report.id}.xml`, junitXml(report))
  if (options.html !== undefined) await writeReport(options.html, html)
  if (options.junit !== undefined) await writeReport(options.junit, junitXml(report))
  if (options.markdown !== undefined) await writeReport(options.markdown, runMarkdown(report))
  await annotate(report, ended)
  if (!options.json) environment.stdout.line(`report: ${shownPath(join(folder.path, 'reports', `${report.id}.html`))}`)
  return report.ok ? 0 : 1
}

/** A path below the current folder, where it is there. */
function shownPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below.startsWith('..') ? path : below
}

/** The Code Quality report, by the name that GitLab's documentation gives it. */
const CODE_QUALITY_FILE = 'gl-code-quality-report.json'

const reportFiles = ({ html, junit, markdown, annotate: ci }: RunCommandOptions): string[] =>
  [html, junit, markdown, ci === 'gitlab' ? CODE_QUALITY_FILE : undefined].filter((file) => file !== undefined)

/** Tells the CI of the failures; GitHub Actions gets a summary of the job too. */
async function annotate(report: RunReport, { options, file, environment }: EndedRun): Promise<void> {
  const { stdout, stderr, variables } = environment
  if (options.annotate === undefined) return
  const located = { ...report, file: pathInProject(report.file, variables) }
  if (options.annotate === 'gitlab') return writeReport(CODE_QUALITY_FILE, gitlabCodeQuality(located, file.lines))
  // GitHub reads commands from both; with --json the other one is for programs.
  const output = options.json ? stderr : stdout
  output.lines(githubAnnotations(located, file.lines))
  const summary = variables['GITHUB_STEP_SUMMARY']
  if (summary) await appendReport(summary, runMarkdown(report))
}

function checkRunOptions(options: RunCommandOptions): void {
  const { rehearse = false, faults, seed, plan, check, resume, restart } = options
  const usage = (message: string, remedy: string) => usageError(message, remedy, 'run-options')
  if (!rehearse && faults !== undefined)
    throw usage('--faults is for --rehearse: real machines have their own', 'leave it out')
  if (!rehearse && seed !== undefined) throw usage('--seed is for --rehearse', 'leave it out')
  if (rehearse && options['serve-image'] !== undefined)
    throw usage('--serve-image is for real machines: those of a rehearsal carry their image', 'leave it out')
  if (options['through-ironic'] !== undefined) {
    if (rehearse)
      throw usage(
        '--through-ironic and --rehearse exclude each other',
        'start ironstage fleet for simulated machines of an Ironic, and name their BMCs in the file',
      )
    if (options['serve-image'] !== undefined)
      throw usage('--serve-image is for hosts that this run installs: an Ironic fetches images itself', 'leave it out')
  }
  if (options['no-cache'] && options['serve-image'] !== undefined)
    throw usage('--serve-image serves the cached image, and --no-cache has none', 'leave one of them out')
  if (resume && restart) throw usage('--resume and --restart exclude each other', 'leave one of them out')
  if (check && restart)
    throw usage('--check looks, and --restart begins a run', 'leave one of them out, or name another --state-dir')
  isDashboardServed(options)
  refuseOneFileTwice(options)
  if (plan && (check || resume || restart)) throw usage('--plan contacts nothing', 'leave the other option out')
  if (check && resume) throw usage('--check and --resume exclude each other', 'leave one of them out')
}

/** A path from the checkout of a CI, as its pages know files; a file elsewhere stays as it was named. */
function pathInProject(path: string, variables: Environment['variables']): string {
  const project = variables['GITHUB_WORKSPACE'] || variables['CI_PROJECT_DIR'] || process.cwd()
  const inside = relative(project, resolve(path))
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

function refuseOneFileTwice(options: RunCommandOptions): void {
  const names = (['html', 'junit', 'markdown'] as const).filter((name) => options[name] !== undefined)
  for (const [index, name] of names.entries()) {
    const twin = names.slice(index + 1).find((other) => resolve(options[other]!) === resolve(options[name]!))
    if (twin === undefined) continue
    throw usageError(`--${name} and --${twin} name the same file`, 'name two files', 'run-options')
  }
}

function chosen({ hosts, path }: HostsFile, only: readonly string[] | undefined): readonly Host[] {
  if (only === undefined) return hosts
  const has = (host: Host, word: string) => host.name === word || (host.labels ?? []).includes(word)
  const unknown = only.find((word) => !hosts.some((host) => has(host, word)))
  if (unknown !== undefined) {
    const labels = [...new Set(hosts.flatMap((host) => host.labels ?? []))].sort()
    const names = hosts.map(({ name }) => name)
    const near = nearestWord(unknown, [...names, ...labels])
    throw usageError(
      `${path} has no host and no label ${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`,
      `it has ${shortList('host', names)}${labels.length === 0 ? '' : ` and ${shortList('label', labels)}`}`,
      'run-options',
    )
  }
  return hosts.filter((host) => only.some((word) => has(host, word)))
}

/** As in "the hosts a, b, c and 9 more". */
function shortList(what: string, words: readonly string[]): string {
  const shown = words.slice(0, MAX_NAMED)
  const more = words.length - shown.length
  return `the ${what}${words.length === 1 ? '' : 's'} ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

const MAX_NAMED = 8

function stateFolder({ 'state-dir': named, rehearse = false }: RunCommandOptions, path: string): string {
  const folder = named ?? `${path.replace(/\.(ya?ml|json)$/, '')}.state`
  return resolve(rehearse ? join(folder, 'rehearsal') : folder)
}

const homeOf = ({ variables }: Environment): string => variables['HOME'] || homedir()

const managersOf = async (host: Host, folder: string) =>
  host['step-files'] === undefined ? undefined : loadManagers(host['step-files'], folder)
