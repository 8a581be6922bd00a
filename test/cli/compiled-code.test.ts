import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../base/runtime/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

const BUNDLE = join(IRONSTAGE, '..')

/** The command as a package has it: without the code that the build of a checkout keeps. */
async function installedPackage() {
  const folder = await temporaryFolder()
  await cp(BUNDLE, join(folder.path, 'dist/bundle'), {
    recursive: true,
    filter: (path) => !path.endsWith('.code'),
  })
  await cp(join(BUNDLE, '../../package.json'), join(folder.path, 'package.json'))
  return folder
}

async function version(folder: string, variables: Record<string, string>): Promise<string> {
  const program = join(folder, 'dist/bundle/ironstage.js')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '--version'], {
    env: { PATH: process.env['PATH'], ...variables },
  })
  return stdout + stderr
}

const PRINTED = /^\d+\.\d+\.\d+\n$/

/** Files of the cache, with the folder of the build in front. */
const cached = async (cache: string): Promise<string[]> =>
  (await readdir(join(cache, 'ironstage/code'), { recursive: true })).filter((path) => path.endsWith('.code'))

test('an older Node.js is named as such, by the command and by the library', async () => {
  const asOlder = `data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } })",
  )}`
  const older20 = (...argv: string[]) =>
    promisify(execFile)(process.execPath, ['--import', asOlder, ...argv]).catch((error: Ended) => error)
  const run = await older20(IRONSTAGE, '--version')
  expect(run).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'ironstage: it needs Node.js 20.19 or newer, and this is 20.18.3\n  try: install a newer Node.js, from https://nodejs.org\n',
  })
  const library = `import(${JSON.stringify(join(BUNDLE, 'index.js'))}).catch(({ message }) => console.log(message))`
  const { stdout } = await older20('--input-type=module', '--eval', library)
  expect(stdout).toBe('ironstage: it needs Node.js 20.19 or newer, and this is 20.18.3\n')
})

interface Ended {
  code: number
  stdout: string
  stderr: string
}

test('the first start of a package keeps what V8 compiled, for its user alone, and the next one takes it', async () => {
  await using installed = await installedPackage()
  const cache = join(installed.path, 'cache')
  await mkdir(cache)
  expect(await version(installed.path, { XDG_CACHE_HOME: cache })).toMatch(PRINTED)
  const [path = ''] = (await cached(cache)).filter((name) => name.endsWith('/command.cjs.code'))
  const file = join(cache, 'ironstage/code', path)
  const { mode, ino } = await stat(file)
  expect(mode & 0o777).toBe(0o600)
  expect(await version(installed.path, { XDG_CACHE_HOME: cache })).toMatch(PRINTED)
  expect((await stat(file)).ino).toBe(ino)
})

test('code that the build of a checkout keeps is for this architecture', async () => {
  const codes = (await readdir(BUNDLE)).filter((path) => path.endsWith('.code'))
  expect(codes).toContain(`command.cjs.${process.arch}.code`)
  expect(codes.filter((path) => !path.endsWith(`.cjs.${process.arch}.code`))).toEqual([])
})

test('code that another user could have written, or that is damaged, is compiled again', async () => {
  await using installed = await installedPackage()
  const cache = join(installed.path, 'cache')
  await mkdir(cache)
  await version(installed.path, { XDG_CACHE_HOME: cache })
  const [path = ''] = (await cached(cache)).filter((name) => name.endsWith('/command.cjs.code'))
  const file = join(cache, 'ironstage/code', path)
  const { ino, size } = await stat(file)
  await chmod(file, 0o666)
  expect(await version(installed.path, { XDG_CACHE_HOME: cache })).toMatch(PRINTED)
  const again = await stat(file)
  expect({ mode: again.mode & 0o777, isNew: again.ino !== ino }).toEqual({ mode: 0o600, isNew: true })
  await writeFile(file, Buffer.alloc(size, 1))
  expect(await version(installed.path, { XDG_CACHE_HOME: cache })).toMatch(PRINTED)
  expect((await stat(file)).ino).not.toBe(again.ino)
})

test.each([
  ['there is no home', () => ({ HOME: '/nonexistent' })],
  ['the cache is a file', (folder: string) => ({ XDG_CACHE_HOME: join(folder, 'package.json') })],
  [
    'Node.js is told to keep no code',
    (folder: string) => ({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: '1' }),
  ],
])('it starts without a cache where %s', async (_, variables) => {
  await using installed = await installedPackage()
  expect(await version(installed.path, variables(installed.path))).toMatch(PRINTED)
  expect(await readdir(installed.path)).not.toContain('ironstage')
})
