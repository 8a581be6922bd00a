import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../runtime/index.js'
import { authFiles, findCredentials, type FoundCredentials } from './registry-credentials.js'

const clock = systemClock()
let home: string
beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), 'ironstage-auth-'))))
afterEach(() => rm(home, { recursive: true, force: true }))

const auth = (user: string) => ({ auth: Buffer.from(`${user}:s:ecret`).toString('base64') })
const userOf = ({ credentials }: FoundCredentials) => (credentials?.kind === 'password' ? credentials.user : null)

async function write(path: string, value: unknown): Promise<string> {
  const file = join(home, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value))
  return file
}
const found = (name: string, variables: Record<string, string> = {}, named?: string) =>
  findCredentials(name, authFiles({ HOME: home, ...variables }, named), clock)

describe('credentials', () => {
  test('of the longest namespace count', async () => {
    const file = await write('auth.json', {
      auths: {
        'a.b': auth('host'),
        'a.b/c': auth('namespace'),
        'a.b/c/d': auth('repository'),
        'a.b/c/d/e': auth('below'),
      },
    })
    expect(userOf(await found('a.b/c/d', {}, file))).toBe('repository')
    expect(userOf(await found('a.b/c/x', {}, file))).toBe('namespace')
    expect(userOf(await found('a.b/cc', {}, file))).toBe('host')
    expect(await found('a.bc/c', {}, file)).toEqual({ credentials: null })
  })

  test('keep what is behind the first colon as the password', async () => {
    const file = await write('auth.json', { auths: { 'a.b': auth('me') } })
    expect(await found('a.b/c', {}, file)).toEqual({
      credentials: { kind: 'password', user: 'me', password: 's:ecret' },
    })
  })

  test('come from the first file that has some: runtime folder, configuration, Docker, old Docker', async () => {
    await write('.dockercfg', { 'https://a.b/v1/': auth('oldest') })
    expect(userOf(await found('a.b/c'))).toBe('oldest')
    await write('.docker/config.json', { auths: { 'https://a.b': auth('docker') } })
    expect(userOf(await found('a.b/c'))).toBe('docker')
    await write('.config/containers/auth.json', { auths: { 'a.b': auth('config') } })
    expect(userOf(await found('a.b/c'))).toBe('config')
    await write('run/containers/auth.json', { auths: { 'a.b': auth('runtime') } })
    expect(userOf(await found('a.b/c', { XDG_RUNTIME_DIR: join(home, 'run') }))).toBe('runtime')
    expect(userOf(await found('other/c', { XDG_RUNTIME_DIR: join(home, 'run') }))).toBe(null)
    const only = await write('mine.json', { auths: {} })
    expect(await found('a.b/c', { REGISTRY_AUTH_FILE: only })).toEqual({ credentials: null })
    expect(userOf(await found('a.b/c', { REGISTRY_AUTH_FILE: only }, join(home, '.docker/config.json')))).toBe('docker')
  })

  test('of Docker Hub are found under its three names', async () => {
    for (const key of ['https://index.docker.io/v1/', 'docker.io', 'registry-1.docker.io']) {
      const file = await write('auth.json', { auths: { [key]: auth('me') } })
      expect(userOf(await found('docker.io/library/x', {}, file))).toBe('me')
    }
  })

  test('in a helper are told of, and not asked for', async () => {
    const one = await write('one.json', { credHelpers: { 'a.b': 'secretservice' } })
    expect(await found('a.b/c', {}, one)).toEqual({ credentials: null, helper: { name: 'secretservice', file: one } })
    const other = await write('other.json', { auths: { 'a.b': {} }, credsStore: 'desktop' })
    expect(await found('a.b/c', {}, other)).toMatchObject({ helper: { name: 'desktop' } })
  })

  test('an identity token comes before the password', async () => {
    const file = await write('auth.json', { auths: { 'a.b': { ...auth('me'), identitytoken: 'refresh' } } })
    expect(await found('a.b/c', {}, file)).toEqual({ credentials: { kind: 'identity token', token: 'refresh' } })
  })

  test.each([
    ['text', 'is not JSON'],
    ['[]', 'is not a JSON object'],
    ['{"auths":[]}', 'has no object at auths'],
    ['{"auths":{"a.b":{"auth":"c2VjcmV0"}}}', 'has no USER:PASSWORD in base64 at auth of a.b'],
  ])('a file with %s is refused, and not quoted', async (text, what) => {
    const file = await write('auth.json', text)
    const failure = await found('a.b/c', {}, file).catch((error: Error) => error)
    expect(failure).toMatchObject({ code: 'registry-auth-file', kind: 'usage' })
    expect(String(failure)).toContain(what)
    expect(String(failure)).not.toMatch(/c2VjcmV0|secret/)
  })

  test('a named file must exist', async () => {
    await expect(found('a.b/c', {}, join(home, 'none'))).rejects.toThrow(/none, cannot be read/)
  })
})
