import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { selfSigned } from '../../agent/index.js'
import { systemClock, systemRandom } from '../../base/runtime/index.js'
import { exists } from './peer-cache.js'
import { debianPackages, succeeds, tool } from './peers.js'
import { freePort } from './free-port.js'

/** The version of Debian 12. */
const PROGRAMS = '/usr/lib/postgresql/15/bin'
const program = (name: string): string => join(PROGRAMS, name)

/** Its package would make and start a cluster of its own on port 5432. */
const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.conf'

/**
 * Installs PostgreSQL, without a cluster that starts by itself.
 *
 * @throws when it cannot be installed: a missing peer is a failure, never a skip
 */
export async function postgresPrograms(): Promise<void> {
  if (await exists(program('postgres'))) return
  await debianPackages(['postgresql-common'])
  const settings = await readFile(CLUSTER_SETTINGS, 'utf8')
  await writeFile(CLUSTER_SETTINGS, settings.replace(/^#?create_main_cluster.*$/m, 'create_main_cluster = false'))
  await debianPackages(['postgresql-15'])
}

/** How a program of PostgreSQL, which refuses to run as root, runs: as the user of Debian's package. */
export interface UnprivilegedUser {
  readonly uid?: number
  readonly gid?: number
}

export async function databaseUser(): Promise<UnprivilegedUser> {
  if (process.getuid?.() !== 0) return {}
  const uid = Number(await succeeds('id', '-u', 'postgres'))
  const gid = Number(await succeeds('id', '-g', 'postgres'))
  return { uid, gid }
}

export interface PostgresOptions {
  /** With a certificate of its own for `localhost` and 127.0.0.1, its own authority; clients may do without TLS. */
  tls?: boolean
  encoding?: string
  /** More settings of postgresql.conf. */
  settings?: Readonly<Record<string, string | number>>
  /** Folder for that of the server (default: the one for temporary files). */
  parent?: string
  /** Lines of pg_hba.conf before those that ask any user for a password over TCP. */
  access?: readonly string[]
}

export interface PostgresRole {
  name: string
  password: string
  /** Further words of CREATE ROLE. */
  rights?: string
}

/** How a server ends: waits for nothing but open transactions, or ends as by a power cut that spares the disk. */
type ServerEnd = 'fast' | 'immediate'

/** The user that all rights belong to; it needs no password on the socket. */
const OWNER = 'postgres'

/** A PostgreSQL server of a test or benchmark, in a folder of its own, on a port of loopback that it keeps. */
export class PostgresServer implements AsyncDisposable {
  #process: ChildProcess | undefined
  #log: string[] = []
  readonly #atExit = (): void => this.#abandon()

  private constructor(
    /** The folder with all that belongs to this server; its socket is there. */
    readonly folder: string,
    readonly port: number,
    readonly user: UnprivilegedUser,
    /** The certificate that clients trust; null without TLS. */
    readonly certificate: string | null,
  ) {
    process.once('exit', this.#atExit)
  }

  /** @throws when it cannot be installed or does not start, with its last words */
  static async open(options: PostgresOptions = {}): Promise<PostgresServer> {
    await postgresPrograms()
    const server = await PostgresServer.#inNewFolder(options.tls ?? false, options.parent)
    return server.#orNothing(async () => {
      await server.#run('initdb', [
        '--pgdata',
        server.#at('data'),
        '--username',
        OWNER,
        '--encoding',
        options.encoding ?? 'UTF8',
        '--locale',
        'C',
        '--auth',
        'trust',
      ])
      const access = [
        'local all all trust',
        ...(options.access ?? []),
        'local replication all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
      ]
      await writeFile(server.#at('data/pg_hba.conf'), `${access.join('\n')}\n`)
      if (options.tls) await server.#certify()
      await server.configure(options.settings ?? {})
      await server.start()
    })
  }

  /**
   * A second server that follows this one, and which this one waits for with each commit.
   *
   * @param name what this server calls it
   */
  async standby(name = 'standby'): Promise<PostgresServer> {
    const standby = await PostgresServer.#inNewFolder(this.certificate !== null)
    return standby.#orNothing(async () => {
      const connection = `host=${this.folder} port=${this.port} user=${OWNER} application_name=${name}`
      await standby.#run('pg_basebackup', [
        '--pgdata',
        standby.#at('data'),
        '--dbname',
        connection,
        '--wal-method',
        'stream',
        '--checkpoint',
        'fast',
        '--write-recovery-conf',
      ])
      await standby.start()
      await this.sql(`alter system set synchronous_standby_names = '${name}'`)
      await this.sql('select pg_reload_conf()')
      const states = `select count(*) from pg_stat_replication where application_name = '${name}' and sync_state = 'sync'`
      await until(`${name} follows`, async () => (await this.sql(states)) === '1')
    })
  }

  /** Has a standby take writes. Its former primary is not waited for. */
  async promote(): Promise<void> {
    await this.sql("alter system set synchronous_standby_names = ''").catch(() => {})
    await this.#run('pg_ctl', ['promote', '--wait', '--pgdata', this.#at('data')])
    await this.sql("alter system set synchronous_standby_names = ''")
    await this.sql('select pg_reload_conf()')
  }

  /** Writes settings of postgresql.conf, which count from the next start. */
  async configure(settings: Readonly<Record<string, string | number>>): Promise<void> {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    await writeFile(this.#at('data/postgresql.conf'), lines.join(''), { flag: 'a' })
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    this.#log = []
    const argv = [
      '-D',
      this.#at('data'),
      '-k',
      this.folder,
      '-p',
      String(this.port),
      '-c',
      'listen_addresses=127.0.0.1',
    ]
    const child = spawn(program('postgres'), argv, { ...this.user, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    child.on('error', (error) => this.#log.push(error.message))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log.push(text)
      if (this.#log.length > 200) this.#log.shift()
    })
    await until('PostgreSQL starts', async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}: ${this.log}`)
      const { code } = await tool(program('pg_isready'), '-q', '-h', this.folder, '-p', String(this.port))
      return code === 0
    })
  }

  /** @throws while it does not run */
  get pid(): number {
    const pid = this.#process?.pid
    if (pid === undefined) throw new Error('PostgreSQL does not run')
    return pid
  }

  /** True until it ends, by itself or otherwise. */
  get isRunning(): boolean {
    const child = this.#process
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Its last messages. */
  get log(): string {
    return this.#log.join('')
  }

  /** Does nothing when it has ended. */
  async stop(end: ServerEnd = 'fast'): Promise<void> {
    const child = this.#process
    if (!this.isRunning || !child) return
    this.#process = undefined
    const ended = once(child, 'exit')
    child.kill(end === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }

  /** Ends it and starts it again on the same port. */
  async restart(end: ServerEnd = 'fast'): Promise<void> {
    await this.stop(end)
    await this.start()
  }

  /** Ends the server, keeps a copy of all that it has, and starts it again. */
  async backup(): Promise<void> {
    await this.stop()
    await succeeds('cp', '-a', this.#at('data'), this.#at('backup'))
    await this.start()
  }

  /** Puts the copy of {@link backup} in the place of all that the server has by now. */
  async restore(): Promise<void> {
    await this.stop()
    await rm(this.#at('data'), { recursive: true })
    await rename(this.#at('backup'), this.#at('data'))
    await this.start()
  }

  /** Runs SQL as the owner of all, and returns the rows: values divided by `|`, without a last newline. */
  async sql(text: string, database = 'postgres'): Promise<string> {
    const place = ['-h', this.folder, '-p', String(this.port), '-U', OWNER, '-d', database]
    const options = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1']
    return (await succeeds(program('psql'), ...place, ...options, '-c', text)).trimEnd()
  }

  /** A database that nothing else uses. */
  async createDatabase(name: string, owner = OWNER): Promise<void> {
    await this.sql(`create database ${sqlName(name)} owner ${sqlName(owner)}`)
  }

  /** A role that may log in and is no superuser. */
  async createRole({ name, password, rights = '' }: PostgresRole): Promise<void> {
    await this.sql(`create role ${sqlName(name)} login password '${password.replaceAll("'", "''")}' ${rights}`)
  }

  /**
   * A URL of this server, for a role with its password, over TCP.
   *
   * @param port of a link in front of it
   */
  url({ name, password }: PostgresRole, database: string, port = this.port): string {
    return `postgres://${encodeURIComponent(name)}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#atExit)
    await this.stop('immediate')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }

  static async #inNewFolder(tls: boolean, parent = tmpdir()): Promise<PostgresServer> {
    const folder = await mkdtemp(join(parent, 'is-pg-'))
    const user = await databaseUser()
    if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid)
    // Clients that run as other users reach its socket.
    await chmod(folder, 0o755)
    return new PostgresServer(folder, await freePort(), user, tls ? join(folder, 'data/server.crt') : null)
  }

  async #orNothing(work: () => Promise<void>): Promise<this> {
    try {
      await work()
      return this
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw error
    }
  }

  #at(name: string): string {
    return join(this.folder, name)
  }

  async #certify(): Promise<void> {
    const identity = await selfSigned({
      hostname: 'localhost',
      address: '127.0.0.1',
      random: systemRandom,
      clock: systemClock(),
      curve: 'p256',
    })
    await writeFile(this.#at('data/server.crt'), identity.certificate)
    // A key that others may read is refused, unless it belongs to root.
    await writeFile(this.#at('data/server.key'), identity.key, { mode: 0o600 })
    const { uid, gid } = this.user
    if (uid !== undefined && gid !== undefined) await chown(this.#at('data/server.key'), uid, gid)
    await this.configure({ ssl: 'on', ssl_ca_file: 'server.crt' })
  }

  async #run(name: string, argv: readonly string[]): Promise<void> {
    const child = spawn(program(name), argv, { ...this.user, cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const errors: Buffer[] = []
    child.stderr.on('data', (bytes: Buffer) => errors.push(bytes))
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`${name} failed with ${code}: ${Buffer.concat(errors).toString().slice(-2000)}`)
  }

  /** The test process ends without having closed it. */
  #abandon(): void {
    this.#process?.kill('SIGQUIT')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const sqlName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** @throws when it has not come true within a minute */
async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await isTrue()) return
    await sleep(50)
  }
  throw new Error(`not within a minute: ${what}`)
}
