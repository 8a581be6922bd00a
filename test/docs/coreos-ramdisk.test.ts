import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { documentText } from '../../coreos/index.js'
import { REHEARSAL_LIVE_ISO } from '../../lab/index.js'
import { command, type CommandRun } from '../kit/commands/command.js'
import { blocks, followTests, readersFolder, words } from '../kit/guides/guide.js'
import { published } from '../kit/published.js'

const here = process.cwd()
afterEach(() => process.chdir(here))

/** Starts a command line: settings of the environment before it, a file behind it. */
function begin(line: string, more: readonly string[] = []): { run: CommandRun; into: string | undefined } {
  const all = words(line)
  const into = all.at(-2) === '>' ? all.at(-1) : undefined
  const argv = into === undefined ? all : all.slice(0, -2)
  const start = argv.indexOf('ironstage')
  expect(start, line).toBeGreaterThanOrEqual(0)
  const variables = Object.fromEntries(argv.slice(0, start).map((word) => word.split(/=(.*)/s).slice(0, 2)))
  return { run: command([...argv.slice(start + 1), ...more], { variables }), into }
}

/** Runs it to its successful end; gives what it printed. */
async function follow(line: string, more: readonly string[] = []): Promise<string> {
  const { run, into } = begin(line, more)
  expect(await run.ended, `${line}: ${run.stderr}`).toBe(0)
  if (into !== undefined) await writeFile(into, run.stdout)
  return run.stdout
}

/** A server with a stream that has the stand-in for a live ISO. */
async function mirror(folder: string): Promise<{ url: string; run: CommandRun }> {
  const { files, stream } = published(
    { 'live-iso': { bytes: await readFile(REHEARSAL_LIVE_ISO) } },
    { streamName: 'stable' },
  )
  const all = { ...files, 'streams/stable.json': Buffer.from(documentText(stream)) }
  for (const [path, bytes] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  const run = command(['stream', 'serve', folder, '--json'])
  const [, url] = await run.printed(/"url":"([^"]+)"/)
  return { url: url!, run }
}

async function stop(run: CommandRun): Promise<void> {
  run.stop()
  expect(await run.ended, run.stderr).toBe(0)
}

test('the guide boots CoreOS with the agent, by ISO and by PXE', { timeout: 120_000 }, async () => {
  const folder = await readersFolder()
  process.chdir(folder)
  let printed = ''
  let up: { run: CommandRun; url: string } | undefined
  const seen = new Set<string>()
  for (const { language, name, text } of blocks('docs/coreos-ramdisk.md')) {
    const lines = text.trim().split('\n')
    seen.add(language === 'sh' ? name : language)
    switch (language) {
      case 'ini':
      case 'yaml':
      case 'ts':
        await writeFile(join(folder, name), text)
        continue
      case 'output':
        expect(printed).toBe(text)
        continue
    }
    expect(language).toBe('sh')
    switch (name) {
      case 'download': {
        const { url, run } = await mirror(join(folder, 'mirror'))
        printed = await follow(lines[0]!, ['--mirror', url, '--no-cache'])
        await stop(run)
        break
      }
      case 'shell':
        // The shell's pattern matches the printed file.
        expect(lines).toEqual(['mv fedora-coreos-*-live*.x86_64.iso live.iso'])
        await writeFile('live.iso', await readFile(printed.trim()))
        break
      case 'serve': {
        const { run } = begin(lines[0]!)
        const [, iso] = await run.printed(/deploy_iso +(\S+)/)
        expect((await fetch(iso!)).status).toBe(200)
        await stop(run)
        break
      }
      case 'up': {
        const { run } = begin(lines[0]!, ['--port', '0'])
        const [, url] = await run.printed(/Ironic is ready at (\S+)/)
        up = { run, url: url! }
        break
      }
      case 'beside':
        printed = await follow(lines[0]!.replace('http://127.0.0.1:6385', up!.url))
        expect(printed).toContain('The disk matches the request.')
        await stop(up!.run)
        break
      default:
        for (const line of lines)
          if (line.startsWith('npx')) expect(await followTests(line, folder)).toMatchObject({ numFailedTests: 0 })
          else printed = await follow(line)
    }
  }
  expect([...seen].sort()).toEqual(['', 'beside', 'download', 'ini', 'output', 'serve', 'shell', 'ts', 'up', 'yaml'])
  const published = await readFile('published.iso')
  const live = await readFile('live.iso')
  expect(published.equals(live)).toBe(true)
})
