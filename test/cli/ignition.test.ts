import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { fileServer, type FileServer } from '../kit/images/image-files.js'

const REMOTE = { ignition: { version: '3.0.0' }, storage: { files: [{ path: '/b', contents: { source: 'data:,b' } }] } }

let folder: string
let server: FileServer
beforeAll(async () => {
  server = await fileServer({ '/b.ign': Buffer.from(JSON.stringify(REMOTE)) })
  folder = await mkdtemp(join(tmpdir(), 'ironstage-ignition-'))
  const files: Record<string, object | string> = {
    'good.ign': {
      ignition: { version: '3.4.0' },
      storage: { files: [{ path: '/a', contents: { source: 'data:,hello%0A' } }] },
    },
    'warned.ign': '{"ignition": {"version": "3.4.0"},\n "x": 1}',
    'bad.ign': '{"ignition": {"version": "3.4.0"},\n "storage": {"files": [{"path": "a"}, {"path": "a"}]}}',
    'old.ign': { ignition: { version: '2.2.0' } },
    'experimental.ign': { ignition: { version: '3.7.0-experimental' } },
    'user.ign': { ignition: { version: '3.2.0' }, passwd: { users: [{ name: 'core', passwordHash: 'secret' }] } },
    'remote.ign': { ignition: { version: '3.4.0', config: { merge: [{ source: server.url('/b.ign') }] } } },
    'new.ign': { ignition: { version: '3.3.0' }, kernelArguments: { shouldExist: ['quiet'] } },
  }
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** File names are shown as they were given; the folder is taken out. */
async function ran(argv: readonly string[], stdin = '') {
  const run = command(['ignition', ...argv.map((arg) => (arg.endsWith('.ign') ? join(folder, arg) : arg))], { stdin })
  const code = await run.ended
  const short = (text: string) => text.replaceAll(`${folder}/`, '')
  return { code, stdout: short(run.stdout), stderr: short(run.stderr) }
}

describe('ironstage ignition validate', () => {
  test.each<[string[], number, string]>([
    [['good.ign'], 0, 'good.ign: valid, spec 3.4.0\n'],
    [['warned.ign'], 0, 'warned.ign: warning at $.x, line 2 col 2: unused key x\nwarned.ign: valid, spec 3.4.0\n'],
    [
      ['bad.ign'],
      1,
      [
        'bad.ign: error at $.storage.files.0.path, line 2 col 33: path not absolute',
        'bad.ign: error at $.storage.files.1.path, line 2 col 48: path not absolute',
        'bad.ign: error at $.storage.files.1, line 2 col 40: duplicate entry defined',
        'bad.ign: refused\n',
      ].join('\n'),
    ],
    [
      ['old.ign', 'good.ign'],
      1,
      'old.ign: refused: unsupported config version (the Ignition config is of version 2.2.0, and CoreOS reads only spec 3.x. Translate it to spec 3 (ign-converter, or generate it again with butane))\ngood.ign: valid, spec 3.4.0\n',
    ],
    [
      ['experimental.ign'],
      0,
      'experimental.ign: valid, spec 3.7.0-experimental, experimental: later Ignitions will refuse it\n',
    ],
  ])('prints the findings of %j', async (files, code, stdout) => {
    expect(await ran(['validate', ...files])).toEqual({ code, stdout, stderr: '' })
  })

  test('standard input, as JSON', async () => {
    const { code, stdout } = await ran(['validate', '--json', '-', 'good.ign'], '{"ignition":\n')
    expect(code).toBe(1)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        file: 'standard input',
        valid: false,
        version: null,
        refusal: 'config is not valid',
        findings: [{ kind: 'error', path: '$', line: 0, column: 0, message: 'unexpected end of JSON input' }],
      },
      { file: 'good.ign', valid: true, version: '3.4.0', refusal: null, findings: [] },
    ])
  })

  test('a file that is missing is wrong usage', async () => {
    expect(await ran(['validate', 'gone.ign'])).toMatchObject({ code: 2, stderr: expect.stringContaining('gone.ign') })
    expect((await ran(['validate', '-', '-'])).code).toBe(2)
  })
})

describe('ironstage ignition merge', () => {
  test('prints one config, in the newest of the versions', async () => {
    const { code, stdout } = await ran(['merge', 'user.ign', 'good.ign'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ignition: { version: '3.4.0' },
      passwd: { users: [{ name: 'core' }] },
      storage: { files: [{ path: '/a' }] },
    })
  })

  test('follows references with --follow', async () => {
    const { stdout } = await ran(['merge', '--follow', '--spec', '3.6.0', 'remote.ign', 'good.ign'])
    expect(JSON.parse(stdout)).toMatchObject({
      ignition: { version: '3.6.0' },
      storage: { files: [{ path: '/b' }, { path: '/a' }] },
    })
    expect(stdout).not.toContain('merge')
  })

  test('refuses a config that Ignition refuses', async () => {
    expect(await ran(['merge', 'good.ign', 'bad.ign'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('bad.ign is one that Ignition refuses: error at $.storage.files.0.path, line 2'),
    })
  })
})

test('ironstage ignition translate goes up, and down where nothing is lost', async () => {
  expect(JSON.parse((await ran(['translate', 'good.ign'])).stdout)).toMatchObject({ ignition: { version: '3.6.0' } })
  expect(JSON.parse((await ran(['translate', '--spec', '3.0.0', 'good.ign'])).stdout)).toMatchObject({
    ignition: { version: '3.0.0' },
  })
  expect(await ran(['translate', '--spec', '3.1.0', 'new.ign'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('spec 3.1.0 has no place for $.kernelArguments'),
  })
  expect((await ran(['translate', '--spec', '2.2.0', 'good.ign'])).code).toBe(2)
})

test('ironstage ignition show tells no secrets, but prints a file that is requested', async () => {
  expect((await ran(['show', 'user.ign'])).stdout).toBe('version           3.2.0\nusers             core\n')
  expect((await ran(['show', '--json', 'user.ign'])).stdout).not.toContain('secret')
  expect((await ran(['show', 'good.ign', '--cat', '/a'])).stdout).toBe('hello\n')
  expect((await ran(['show', 'good.ign', '--cat', '/b'])).code).toBe(1)
})
