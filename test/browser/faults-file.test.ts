import { readFile } from 'node:fs/promises'
import type { Browser, Download } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readFaultsFile } from '../../control/index.js'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '4'])
})

beforeEach(() => running.lab.liftFaults())

afterAll(async () => {
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

const openFaults = (more: object = {}): Promise<Tab> => Tab.open(browser, `${running.pageUrl}#/faults`, more)

const textOf = async (download: Download): Promise<string> => readFile(await download.path(), 'utf8')

const FAULTS = `
- match: { node: node-1, bmc: set boot }
  effect: { kind: bmc-dark, for: 1m30s }
  times: 2
  label: "it's <b>dark</b>"
- match: { route: PUT /v1/nodes/:id/states/provision }
  effect: { kind: status, status: 503, body: { password: hunter22 } }
  between: [10m, 1h]
`

test('faults go out as YAML and come back the same, by a pasted text and by a file', async () => {
  await using tab = await openFaults()
  const { page } = tab
  await page.getByRole('button', { name: 'Import' }).click()
  const form = page.getByRole('form', { name: 'Import faults' })
  await form.getByLabel('Its text, or paste one').fill(FAULTS)
  await form.getByRole('button', { name: 'Add these faults' }).click()
  await page.getByText('Added 2 faults.').waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download YAML' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('faults.yaml')
  const text = await textOf(file)
  expect(text).toContain('for: 1m30s')
  expect(text).not.toContain('hunter22')
  expect(await page.content()).not.toContain('hunter22')

  await page.getByRole('button', { name: 'Lift all' }).click()
  await page.getByText('No faults are injected.').waitFor()
  await page.getByRole('button', { name: 'Import' }).click()
  await form.getByLabel('File of faults').setInputFiles({
    name: 'faults.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from(text),
  })
  await expect.poll(() => form.getByLabel('Its text, or paste one').inputValue()).toBe(text)
  await form.getByRole('button', { name: 'Add these faults' }).click()
  await page.getByText('Added 2 faults.').first().waitFor()
  // A masked value is no secret any more.
  const plain = text.replace(/^# Secrets.*\n/, '')
  await expect.poll(() => running.lab.exportFaults()).toBe(plain)
  expect(readFaultsFile(text, 'faults.yaml')).toHaveLength(2)
  expect(tab.wrong).toEqual([])
})

test('a wrong file is refused in the words of the command line, with the text of its line, and adds nothing', async () => {
  await using tab = await openFaults({ failuresExpected: true })
  const { page } = tab
  await page.getByRole('button', { name: 'Import' }).click()
  const form = page.getByRole('form', { name: 'Import faults' })
  await form.getByLabel('File of faults').setInputFiles({
    name: 'mine.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from('- match: {}\n  effect: { kind: bmc-silent }\n- match: {}\n  effect: { kind: bmc-silnt }\n'),
  })
  const add = form.getByRole('button', { name: 'Add these faults' })
  await add.click()
  const sentence = await form.getByRole('alert').innerText()
  expect(sentence).toContain(
    'mine.yaml, fault 2, is wrong: effect.kind is "bmc-silnt"; did you mean bmc-silent?, in line 4: effect: { kind: bmc-silnt }',
  )
  await form.getByLabel('Its text, or paste one').fill('- match: {node: nobody}\n  effect: {kind: bmc-silent}\n')
  await add.click()
  await form.getByText('there is no node nobody').waitFor()
  await form.getByLabel('Its text, or paste one').fill('a: [')
  await add.click()
  await form.getByText('in line 1: a: [').waitFor()
  expect((await running.lab.faults()).faults).toEqual([])
  expect(tab.wrong).toEqual([])
})

test.each((['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ colorScheme, width }))))(
  'the import is accessible and fits: $colorScheme, $width px',
  async ({ colorScheme, width }) => {
    await running.lab.importFaults({ file: FAULTS })
    await using tab = await openFaults({ colorScheme, viewport: { width, height: 800 }, failuresExpected: true })
    const { page } = tab
    await page.getByRole('button', { name: 'Import' }).click()
    const form = page.getByRole('form', { name: 'Import faults' })
    await form.getByLabel('Its text, or paste one').fill(`- match: {}\n  effect: { kind: ${'x'.repeat(200)} }`)
    await form.getByRole('button', { name: 'Add these faults' }).click()
    await form.getByRole('alert').waitFor()
    expect(await tab.violations()).toEqual([])
    expect(await tab.overflow()).toBeLessThanOrEqual(0)
    expect(tab.wrong).toEqual([])
  },
)
