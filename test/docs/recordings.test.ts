import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { COMPARED_HEADERS, VARYING_FIELDS } from '../../apps/recording/index.js'
import { command, type CommandRun } from '../kit/commands/command.js'
import { blocks, words } from '../kit/guides/guide.js'

const here = process.cwd()
afterEach(() => process.chdir(here))

/** A request as curl makes it with the options of the guide. */
async function curl(argv: readonly string[]): Promise<number> {
  const headers: Record<string, string> = {}
  const request: RequestInit = { headers }
  let url = ''
  for (let at = 0; at < argv.length; at++)
    if (argv[at] === '-X') request.method = argv[++at]!
    else if (argv[at] === '-d') request.body = argv[++at]!
    else if (argv[at] === '-H') {
      const [name, value] = argv[++at]!.split(': ')
      headers[name!] = value!
    } else url = argv[at]!
  const answer = await fetch(url, request)
  await answer.text()
  return answer.status
}

test('the guide is followed: a recording, its replay, an older release, and known differences', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recordings-guide-'))
  process.chdir(folder)
  const running: CommandRun[] = []
  /** Ports of the guide are free ones here, in the order in which they are first listened on. */
  const ports = new Map<string, string>()
  const here = (text: string) => text.replace(/(?<=127\.0\.0\.1:)\d+/g, (port) => ports.get(port) ?? port)
  const followed: string[] = []
  let recorder: CommandRun | undefined
  let printed = ''
  try {
    for (const { language, name, text } of blocks('docs/recordings.md')) {
      followed.push(`${language} ${name}`.trim())
      if (language === 'yaml') await writeFile(name, text)
      if (language === 'text' && !text.startsWith('ironstage ')) expect(printed).toBe(text)
      if (language !== 'sh') continue
      for (const line of text.trim().replaceAll('\\\n', '').split('\n')) {
        const [program, ...argv] = words(here(line))
        if (program === 'curl') expect(await curl(argv), line).toBeLessThan(300)
        else if (name === 'serve') {
          const port = argv[argv.indexOf('--port') + 1]!
          const server = command(argv.map((word) => (word === port ? '0' : word)))
          running.push(server)
          const [, free] = await server.printed(
            /(?:Ironic is ready at|reach the Ironic at) http:\/\/127\.0\.0\.1:(\d+)/,
          )
          ports.set(port, free!)
          if (argv[0] === 'record') recorder = server
          else if (recorder) await stopped(recorder)
        } else {
          const run = command(argv)
          const code = await run.ended
          expect(code, `${run.stdout}${run.stderr}`).toBe(name === 'differs' ? 1 : 0)
          printed = run.stdout
          if (!line.includes('--known') && name !== 'differs') expect(printed).toBe('2 calls, 0 differences\n')
        }
      }
    }
    expect(printed).toBe('2 calls, 0 differences, 2 known\n')
    expect(followed).toEqual([
      'sh serve',
      'sh',
      'sh serve',
      'sh',
      'sh serve',
      'sh differs',
      'text',
      'text',
      'yaml known.yaml',
      'sh serve',
      'sh',
    ])
  } finally {
    await Promise.all(running.map(stopped))
    process.chdir(tmpdir())
    await rm(folder, { recursive: true, force: true })
  }
})

function stopped(run: CommandRun): Promise<number> {
  run.stop()
  return run.ended
}

test('the guide lists the fields that vary and the headers that are compared', () => {
  const guide = readFileSync(new URL('../../docs/recordings.md', import.meta.url), 'utf8')
  const rows = guide.split('\n').filter((line) => line.startsWith('| '))
  for (const { name, why } of VARYING_FIELDS)
    expect(
      rows.filter((row) => row.includes(`\`${name}\``) && row.includes(why)),
      name,
    ).toHaveLength(1)
  for (const name of Object.keys(COMPARED_HEADERS)) expect(guide).toContain(`\`${name}\``)
})
