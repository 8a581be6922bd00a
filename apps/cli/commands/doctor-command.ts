import { once } from 'node:events'
import { access, constants, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  checkPackages,
  packageVersion,
  systemClock,
  systemRandom,
  type UserError,
  wrapWords,
} from '../../../base/runtime/index.js'
import { hasWasmLzma } from '../../../base/bytes/index.js'
import { localReadiness } from '../../../targets/index.js'
import type { Environment } from '../environment.js'
import { cacheFolder } from '../options/cache-request.js'
import type { DOCTOR_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

type DoctorOptions = CommandOptionValues<(typeof DOCTOR_OPTIONS)[number]>

/** One thing that was looked at. */
interface HealthCheck {
  name: string
  ok: boolean
  /** The finding, or the sentence of the problem. */
  found: string
  remedy?: string
}

/** Checks of what one way of working needs. */
interface HealthGroup {
  title: string
  checks: HealthCheck[]
}

/** Packages that the deployment of a simulated machine loads. */
const SIMULATION_PACKAGES = ['ext2fs', 'lzma-native']
/** Open files below which servers of many machines fail. */
const FEW_OPEN_FILES = 1024
/** The default port of `up`. */
const IRONIC_PORT = 6385

/** `ironstage doctor`: what works here, and what to do about the rest. Exit code 1 if simulated machines do not work. */
export async function doctor(options: DoctorOptions, environment: Environment): Promise<number> {
  const { stdout } = environment
  const simulation: HealthGroup = {
    title: 'Simulated machines (deploy, up, rehearse)',
    checks: await simulationChecks(),
  }
  const groups = [
    simulation,
    { title: 'Needed by some commands', checks: await furtherChecks(environment) },
    { title: 'Disks of this host (--target local:...)', checks: await localChecks(environment) },
  ]
  const works = simulation.checks.every(({ ok }) => ok)
  const system = `ironstage ${packageVersion()}, Node.js ${process.versions.node}, ${process.platform} ${process.arch}`
  const lines = [system, ...groups.flatMap(({ title, checks }) => ['', title, ...checks.flatMap(checkLines)])]
  stdout.either(options.json, { event: 'doctor', system, works, groups }, lines)
  return works ? 0 : 1
}

/** Columns of a line, and where the text of a check begins. */
const WIDTH = 80
const INDENT = 6

/** A check in lines for people. */
function checkLines({ name, ok, found, remedy }: HealthCheck): string[] {
  const texts = [`${name}: ${found}`, ...(remedy === undefined ? [] : [`try: ${remedy}`])]
  const lines = texts.flatMap((text) => wrapWords(text.split(' '), WIDTH - INDENT))
  return lines.map((line, n) => `${n > 0 ? '' : ok ? '  ok' : '  NO'}`.padEnd(INDENT) + line)
}

async function simulationChecks(): Promise<HealthCheck[]> {
  const packages = checkPackages().filter(({ name }) => SIMULATION_PACKAGES.includes(name))
  return [...packages.map(packageCheck), await temporaryFolderCheck(), await openFilesCheck()]
}

async function furtherChecks({ variables }: Environment): Promise<HealthCheck[]> {
  const packages = checkPackages().filter(({ name }) => !SIMULATION_PACKAGES.includes(name))
  return [...packages.map(packageCheck), await cacheCheck(cacheFolder({}, variables)), await portCheck()]
}

async function localChecks({ variables }: Environment): Promise<HealthCheck[]> {
  if (process.platform !== 'linux')
    return [
      {
        name: 'Linux',
        ok: false,
        found: `this is ${process.platform}`,
        remedy: 'use simulated machines here; disks and machines behind SSH need Linux',
      },
    ]
  const clock = systemClock()
  const readiness = await localReadiness({ environment: variables, clock, random: systemRandom })
  return readiness.map(({ needed, found }) =>
    typeof found === 'string' ? { name: needed, ok: true, found } : problemCheck(needed, found),
  )
}

function packageCheck({ name, neededFor, problem }: ReturnType<typeof checkPackages>[number]): HealthCheck {
  if (problem === null) return { name, ok: true, found: `installed, ${neededFor}` }
  if (name === 'lzma-native' && hasWasmLzma())
    return { name, ok: true, found: `not built for this computer; its work is done in WebAssembly, ${neededFor}` }
  return problemCheck(name, problem)
}

function problemCheck(name: string, problem: UserError): HealthCheck {
  const check: HealthCheck = { name, ok: false, found: problem.message }
  if (problem.remedy !== undefined) check.remedy = problem.remedy
  return check
}

async function temporaryFolderCheck(): Promise<HealthCheck> {
  const name = 'temporary files'
  try {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-doctor-'))
    try {
      await writeFile(join(folder, 'written'), Buffer.alloc(4096))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    return { name, ok: true, found: tmpdir() }
  } catch (error) {
    return {
      name,
      ok: false,
      found: (error as Error).message,
      remedy: 'set TMPDIR to a writable folder with free space',
    }
  }
}

async function openFilesCheck(): Promise<HealthCheck> {
  const name = 'open files'
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (limit === undefined) return { name, ok: true, found: 'no limit is known' }
  const found = `${limit} at a time`
  if (Number(limit) >= FEW_OPEN_FILES) return { name, ok: true, found }
  return { name, ok: false, found, remedy: `ulimit -n ${FEW_OPEN_FILES}` }
}

/** The first folder on the way to the cache that exists has to be writable. */
async function cacheCheck(folder: string | null): Promise<HealthCheck> {
  const name = 'image cache'
  const remedy = 'set XDG_CACHE_HOME to a writable folder'
  if (folder === null) return { name, ok: false, found: 'there is no home folder', remedy }
  let existing = folder
  while (!(await stat(existing).catch(() => null)) && existing !== dirname(existing)) existing = dirname(existing)
  try {
    await access(existing, constants.W_OK)
    return { name, ok: true, found: folder }
  } catch (error) {
    return { name, ok: false, found: (error as Error).message, remedy }
  }
}

/** A program that accepts a connection there has the port. */
async function portCheck(): Promise<HealthCheck> {
  const name = `port ${IRONIC_PORT}`
  const socket = connect(IRONIC_PORT, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return { name, ok: false, found: 'another program has it', remedy: 'start with ironstage up --port PORT' }
  } catch {
    return { name, ok: true, found: 'free for up' }
  } finally {
    socket.destroy()
  }
}
