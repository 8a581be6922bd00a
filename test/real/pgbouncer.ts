import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cachedPeer } from './peer-cache.js'
import { freePort } from './free-port.js'
import { debianFolder, debianPackages } from './peers.js'
import { databaseUser, type PostgresServer } from './postgres.js'

/** The program of Debian's pgbouncer. Its package is unpacked only: once installed, it would start a service. */
export async function bouncerProgram(): Promise<string> {
  await debianPackages(['libc-ares2', 'libevent-2.1-7'])
  const folder = await cachedPeer('pgbouncer', (building) => debianFolder('pgbouncer', building))
  return join(folder, 'usr/sbin/pgbouncer')
}

export type PoolMode = 'session' | 'transaction' | 'statement'

/** A PgBouncer in front of a server. */
export interface RunningBouncer extends AsyncDisposable {
  readonly port: number
}

/** Starts PgBouncer, with any number of clients on few connections; users and passwords are the server's. */
export async function pgbouncer(
  server: PostgresServer,
  mode: PoolMode,
  users: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<RunningBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'is-bouncer-'))
  // Its own user cannot reach the cache of peers in the home of root.
  const program = join(folder, 'pgbouncer')
  await copyFile(await bouncerProgram(), program)
  const port = await freePort()
  const settings = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${join(folder, 'users')}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 3',
    ...more,
  ]
  const accounts = Object.entries(users).map(([name, password]) => `"${name}" "${password}"\n`)
  await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
  await writeFile(join(folder, 'users'), accounts.join(''))
  const user = await databaseUser()
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid)
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { ...user, stdio: ['ignore', 'ignore', 'pipe'] })
  const words: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => words.push(text))
  const ended = once(child, 'exit')
  const running: RunningBouncer = {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
  for (let tries = 0; tries < 600; tries++) {
    if (await accepts(port)) return running
    if (child.exitCode !== null) break
    await sleep(50)
  }
  await running[Symbol.asyncDispose]()
  throw new Error(`PgBouncer does not start: ${words.join('')}`)
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
