import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { INSTALL, LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '6'])
  await running.all(['node-1', 'node-4'], 'manage', 'manageable')
})

afterAll(async () => {
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

const openPage = (hash: string, more: object = {}): Promise<Tab> =>
  Tab.open(browser, `${running.pageUrl}#/${hash}`, more)

test('filter, order, form and size are in the address: they survive a reload, and a link shows them', async () => {
  await using tab = await openPage('fleet')
  const { page } = tab
  await page.getByText('6 machines').waitFor()
  await page.getByLabel('Cells').selectOption('large')
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByLabel('Order').selectOption('grouped by state')
  await page.getByRole('searchbox').fill('node-')
  await expect.poll(() => page.url()).toContain('text=node-')
  const url = page.url()
  expect(url).toMatch(/as=table/)
  expect(url).toMatch(/order=state/)
  expect(url).toMatch(/cells=large/)
  const names = (of: Tab) => of.page.getByRole('table', { name: 'Machines' }).getByRole('link').allInnerTexts()
  await expect.poll(async () => (await names(tab)).slice(-2)).toEqual(['node-1', 'node-4'])
  await page.reload()
  await expect.poll(async () => (await names(tab)).slice(-2)).toEqual(['node-1', 'node-4'])

  await using other = await Tab.open(browser, url)
  await expect.poll(async () => (await names(other)).slice(-2)).toEqual(['node-1', 'node-4'])
  expect(await other.page.getByRole('searchbox').inputValue()).toBe('node-')
  expect([...tab.wrong, ...other.wrong]).toEqual([])
})

test('a view is saved by its name, found by the palette, opened and removed', async () => {
  await using tab = await openPage('fleet?state=manageable&as=table')
  const { page } = tab
  await page.getByText('2 of 6').waitFor()
  await page.keyboard.press('v')
  const dialog = page.getByRole('dialog', { name: 'Saved views' })
  await dialog.getByText('No views are saved yet.').waitFor()
  await dialog.getByRole('button', { name: 'Save this view' }).click()
  await dialog.getByText('name the view').waitFor()
  await dialog.getByLabel('Name of this view').fill('<b>ready</b> ones')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })

  await page.goto(`${running.pageUrl}#/exchanges`)
  await page.reload()
  await page.getByRole('heading', { name: 'Exchanges' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('ones')
  await page.getByRole('option', { name: '<b>ready</b> ones saved view' }).click()
  await page.getByText('2 of 6').waitFor()
  expect(page.url()).toContain('#/fleet?state=manageable&as=table')

  await page.getByRole('button', { name: 'Saved views' }).click()
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Remove <b>ready</b> ones' }).click()
  await dialog.getByText('No views are saved yet.').waitFor()
  expect(await page.evaluate('localStorage.getItem("ironstage.views")')).toBeNull()
  expect(tab.wrong).toEqual([])
})

test('a browser without storage saves views as long as the page is open', async () => {
  await using tab = await openPage('fleet?as=grid')
  const { page } = tab
  await page.addInitScript(
    'Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError") } })',
  )
  await page.reload()
  await page.getByText('6 machines').waitFor()
  await page.keyboard.press('v')
  const dialog = page.getByRole('dialog', { name: 'Saved views' })
  await dialog.getByLabel('Name of this view').fill('kept')
  await page.keyboard.press('Enter')
  await page.keyboard.press('v')
  await dialog.getByRole('button', { name: 'kept', exact: true }).waitFor()
  expect(tab.wrong).toEqual([])
})

test('open panels are in the address: the import of faults, the record of a node', async () => {
  await using tab = await openPage('faults?open=import')
  const { page } = tab
  await page.getByRole('form', { name: 'Import faults' }).waitFor()
  await page.goto(`${running.pageUrl}#/nodes/node-1`)
  await page.getByText('Record', { exact: true }).click()
  await page.getByText('"provision_state": "manageable"').waitFor()
  expect(page.url()).toContain('open=record')
  await page.reload()
  await page.getByText('"provision_state": "manageable"').waitFor()
  expect(tab.wrong).toEqual([])
})

test.each([320, 360])('the dialog of views fits at %i px', async (width) => {
  await using tab = await openPage('fleet', { viewport: { width, height: 700 } })
  const { page } = tab
  await page.getByText('6 machines').waitFor()
  const openViews = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Find' }).click()
    await page.keyboard.type('save this view')
    await page.keyboard.press('Enter')
  }
  await openViews()
  await page.getByLabel('Name of this view').fill('x'.repeat(60))
  await page.keyboard.press('Enter')
  await openViews()
  await page.getByRole('button', { name: /^x+$/ }).waitFor()
  expect(await tab.overflow()).toBeLessThanOrEqual(0)
  expect(await tab.violations()).toEqual([])
})

test.each((['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ colorScheme, width }))))(
  'wanted beside actual is accessible and fits: $colorScheme, $width px',
  async ({ colorScheme, width }) => {
    await running.lab.liftFaults()
    await using tab = await openPage('nodes/node-1', { colorScheme, viewport: { width, height: 800 } })
    const { page } = tab
    const panel = page.getByRole('region', { name: 'Wanted and actual' })
    await panel.getByRole('rowheader', { name: 'disk contents' }).waitFor()
    expect(await tab.violations()).toEqual([])
    expect(await tab.overflow()).toBeLessThanOrEqual(0)
    expect(tab.wrong).toEqual([])
  },
)

test('what differs on a node is said in words as it comes, and how long ago a deployment failed', async () => {
  await using tab = await openPage('nodes/node-4')
  const { page } = tab
  const panel = page.getByRole('region', { name: 'Wanted and actual' })
  const row = (name: string) => panel.getByRole('row', { name: new RegExp(`^${name} `) })
  await row('power').getByText('as wanted').waitFor()
  await running.all(['node-4'], 'provide', 'available')
  await running.lab.addFault({
    match: { node: 'node-4', program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error' },
  })
  await running.all(['node-4'], 'active', 'deploy failed', INSTALL)
  await row('provision state').getByText('differs').waitFor()
  await page.getByText(/^deploy failed \(target: active\) \d+ s ago$/).waitFor()
  expect(tab.wrong).toEqual([])
})
