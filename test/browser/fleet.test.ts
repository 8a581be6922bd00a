import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.startFleet(['--count', '5'])
})
afterAll(async () => {
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

test('machines of a fleet are switched on, found, struck by a fault, and their BMCs are listened to', async () => {
  await using tab = await Tab.open(browser, running.pageUrl)
  const { page } = tab
  await page.getByRole('heading', { name: 'Machines' }).waitFor()
  await page.getByText('5 machines', { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('machine-2')
  await page.getByText('1 of 5').waitFor()
  await page.getByRole('button', { name: 'Select all' }).click()
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Power on' }).click()
  await page.getByText('Power on: 1 machine was asked.').waitFor()
  await expect.poll(async () => (await running.lab.machine('machine-2')).power).toBe('on')
  await page.getByRole('button', { name: /^on 1$/ }).waitFor()

  await page.getByRole('listbox').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'machine-2' }).waitFor()
  await page.getByText('power on', { exact: true }).waitFor()
  const answer = await fetch(`${running.redfishUrl}/redfish/v1/Systems/machine-2`)
  expect(answer.status).toBe(401)
  await page.getByRole('link', { name: 'All calls of the BMC' }).click()
  await page.getByRole('searchbox', { name: 'Machine' }).waitFor()

  await page.keyboard.press('3')
  await page.getByRole('button', { name: 'Add a fault' }).click()
  const form = page.getByRole('form', { name: 'New fault' })
  await form.getByLabel('Effect').selectOption('bmc-silent')
  await form.getByLabel('machine', { exact: true }).fill('machine-3')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await page.locator('.faults').getByText('the BMC does not answer').waitFor()
  expect((await running.lab.faults()).faults).toMatchObject([{ match: { machine: 'machine-3' } }])
  expect(tab.wrong).toEqual([])
})

test.each((['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ colorScheme, width }))))(
  'the pages of a fleet are accessible and fit: $colorScheme, $width px',
  async ({ colorScheme, width }) => {
    await using tab = await Tab.open(browser, running.pageUrl, { colorScheme, viewport: { width, height: 800 } })
    const { page } = tab
    await page.getByText('5 machines', { exact: true }).waitFor()
    expect(await tab.violations()).toEqual([])
    expect(await tab.overflow()).toBeLessThanOrEqual(0)
    await page.goto(`${running.pageUrl}#/machines/machine-1`)
    await page.getByRole('region', { name: 'Disks' }).waitFor()
    expect(await tab.violations()).toEqual([])
    expect(await tab.overflow()).toBeLessThanOrEqual(0)
    expect(tab.wrong).toEqual([])
  },
)
