import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '2'])
})

afterAll(async () => {
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

const openRecordings = (more: object = {}): Promise<Tab> => Tab.open(browser, `${running.pageUrl}#/recordings`, more)

test('a recording is started, survives a reload, is saved, and replayed against the lab that was reset', async () => {
  await using tab = await openRecordings()
  const { page } = tab
  await page.getByRole('button', { name: 'Start a recording' }).click()
  await page.getByText(/Recording since/).waitFor()
  await running.all(['node-0'], 'manage', 'manageable')
  await running.ironic('GET', '/v1/nodes/node-0')
  await page.reload()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Stop and save' }).click()
  const file = await saved
  expect(file.suggestedFilename()).toBe('recording.ndjson')
  const text = await readFile(await file.path(), 'utf8')
  expect(text.split('\n')[0]).toContain('"recording":"ironstage"')
  expect(text).toContain('/v1/nodes/node-0/states/provision')

  await page.getByLabel('reset the lab first').check()
  await page.getByRole('button', { name: 'Replay recording.ndjson' }).click()
  await page.getByText(/The replay of recording.ndjson has ended: (\d+) of \1 calls/).waitFor({ timeout: 60_000 })
  await page.getByText(/^\d+ calls, 0 differences$/).waitFor()
  await page.reload()
  await page.getByText(/^\d+ calls, 0 differences$/).waitFor()

  // Without a reset the node is already there.
  await page.getByLabel('Recording', { exact: true }).setInputFiles({
    name: 'mine.ndjson',
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(text),
  })
  await running.all(['node-0'], 'provide', 'available')
  await page.getByRole('button', { name: 'Replay mine.ndjson' }).click()
  await page.getByText(/The replay of mine.ndjson has ended/).waitFor({ timeout: 120_000 })
  const lines = await page.getByLabel('Differences').innerText()
  expect(lines).toMatch(/#\d+ GET \/v1\/nodes\/\{node_ident\}: /)
  expect(lines).toMatch(/\d+ calls, \d+ differences?$/)
  expect(tab.wrong).toEqual([])
}, 240_000)

test('what is no recording is refused in the words of the command line; the archive is saved', async () => {
  await using tab = await openRecordings({ failuresExpected: true })
  const { page } = tab
  await page.getByLabel('Recording', { exact: true }).setInputFiles({
    name: 'notes.ndjson',
    mimeType: 'text/plain',
    buffer: Buffer.from('hello\n'),
  })
  await page.getByRole('button', { name: 'Replay notes.ndjson' }).click()
  await page.getByText('line 1 of notes.ndjson is not JSON').waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save all as HAR' }).click()
  const file = await saved
  const { log } = JSON.parse(await readFile(await file.path(), 'utf8')) as { log: { entries: unknown[] } }
  expect(log.entries.length).toBeGreaterThan(0)
  expect(tab.wrong).toEqual([])
})

test.each((['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ colorScheme, width }))))(
  'the page of recordings is accessible and fits: $colorScheme, $width px',
  async ({ colorScheme, width }) => {
    await using tab = await openRecordings({ colorScheme, viewport: { width, height: 800 } })
    const { page } = tab
    await page.getByRole('heading', { name: 'Recordings' }).waitFor()
    await page.getByRole('button', { name: 'Start a recording' }).click()
    await page.getByText(/Recording since/).waitFor()
    expect(await tab.violations()).toEqual([])
    expect(await tab.overflow()).toBeLessThanOrEqual(0)
    expect(tab.wrong).toEqual([])
  },
)
