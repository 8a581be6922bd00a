import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { hash } from 'bcryptjs'
import { selfSigned } from '../../agent/index.js'
import { defined, systemClock, systemRandom } from '../../base/runtime/index.js'
import { cachedPeer } from './peer-cache.js'
import { debianFolder } from './peers.js'

/** The program of Debian's docker-registry. Its package is unpacked only: once installed, it would start a service. */
export const registryProgram = async (): Promise<string> =>
  join(
    await cachedPeer('docker-registry', (building) => debianFolder('docker-registry', building)),
    'usr/bin/docker-registry',
  )

export interface DockerRegistryOptions {
  users?: Readonly<Record<string, string>>
  tls?: boolean
}

/** A running docker-registry on loopback, with storage of its own. */
export interface DockerRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT` */
  host: string
  /** Its certificate, and a folder that has it as skopeo wants it; null without TLS. */
  ca: { file: string; folder: string } | null
}

export async function dockerRegistry({ users, tls = false }: DockerRegistryOptions = {}): Promise<DockerRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-docker-registry-'))
  const at = (name: string): string => join(folder, name)
  if (users) {
    const lines = await Promise.all(
      Object.entries(users).map(async ([user, password]) => `${user}:${await hash(password, 5)}\n`),
    )
    await writeFile(at('htpasswd'), lines.join(''))
  }
  if (tls) {
    const identity = await selfSigned({
      hostname: 'registry',
      address: '127.0.0.1',
      random: systemRandom,
      clock: systemClock(),
      curve: 'p256',
    })
    await mkdir(at('certs'))
    await writeFile(at('key.pem'), identity.key)
    await writeFile(at('certs/ca.crt'), identity.certificate)
  }
  const config = {
    version: 0.1,
    log: { level: 'info' },
    storage: { filesystem: { rootdirectory: at('storage') } },
    http: {
      addr: '127.0.0.1:0',
      ...defined({ tls: tls ? { certificate: at('certs/ca.crt'), key: at('key.pem') } : undefined }),
    },
    ...defined({ auth: users ? { htpasswd: { realm: 'real', path: at('htpasswd') } } : undefined }),
  }
  await writeFile(at('config.yml'), JSON.stringify(config))
  const child = spawn(await registryProgram(), ['serve', at('config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  const lines: string[] = []
  const host = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const [, address] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? []
      if (address) resolve(address)
    })
    ended.then(() => reject(new Error(`docker-registry ended: ${lines.slice(-5).join('\n')}`)), reject)
  })
  return {
    host,
    ca: tls ? { file: at('certs/ca.crt'), folder: at('certs') } : null,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
