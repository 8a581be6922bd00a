import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import installChromium from './kit/install-chromium.js'
import { LabProcess, nodeNames } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

// Makes the pictures of docs/dashboard.md from the product as it runs: `npm run docs:pictures`.

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'docs/pictures')

/** Nodes whose BMC does not answer on the bad day: they never leave enroll. */
const UNREACHED = ['node-18', 'node-19']

async function main(): Promise<void> {
  await installChromium()
  await mkdir(folder, { recursive: true })
  await using running = await LabProcess.start(['--nodes', '40', '--faults', join(root, 'examples/bad-day.yaml')])
  const browser = await openBrowser()
  try {
    await using tab = await Tab.open(browser, running.pageUrl, { failuresExpected: true })
    const { page } = tab
    // As a user does it: all of them, verb by verb.
    for (const [verb, state] of [
      ['Manage', 'manageable'],
      ['Provide', 'available'],
    ] as const) {
      await ask(page, verb)
      await running.until(
        nodeNames(40).filter((name) => !UNREACHED.includes(name)),
        state,
      )
    }
    await ask(page, 'Install CoreOS')
    await running.until(['node-0', 'node-39'], 'active')
    await running.until(['node-3', 'node-11', 'node-14'], 'deploy failed')
    // Agents that are silent are waited for until the time limit passes.
    await running.lab.setClock({ mode: 'x600' })
    await running.until(['node-7', 'node-21', 'node-33'], 'deploy failed')
    await running.lab.setClock({ mode: 'real' })
    await page.getByRole('button', { name: 'Clear' }).click()
    const { pageUrl } = running
    await picture(tab, 'dashboard-fleet.png', `${pageUrl}#/fleet`, { width: 1280, height: 960 })
    await picture(tab, 'dashboard-node.png', `${pageUrl}#/nodes/node-7`, { width: 1280, height: 900 })
    await picture(tab, 'dashboard-faults.png', `${pageUrl}#/faults`, { width: 1280, height: 720 })
    await using dark = await Tab.open(browser, pageUrl, { colorScheme: 'dark', failuresExpected: true })
    await picture(dark, 'dashboard-phone.png', `${pageUrl}#/nodes/node-3`, { width: 360, height: 760 })
  } finally {
    await browser.close()
  }
}

async function ask(page: Page, verb: string): Promise<void> {
  const clear = page.getByRole('button', { name: 'Clear' })
  if (await clear.count()) await clear.click()
  await page.getByRole('button', { name: 'Select all' }).click()
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: verb }).click()
}

async function picture(
  { page }: Tab,
  name: string,
  url: string,
  size: { width: number; height: number },
): Promise<void> {
  await page.setViewportSize(size)
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (url.includes('nodes/')) await page.getByRole('img', { name: /^States/ }).waitFor()
  for (const dismiss of await page.getByRole('button', { name: 'Dismiss' }).all()) await dismiss.click()
  // Text fonts and the drawing are there with the next pictures.
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, name) })
}

await main()
