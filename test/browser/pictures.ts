import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import installChromium from './kit/install-chromium.js'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

// Makes the pictures of docs/dashboard.md from the product as it runs: `npm run docs:pictures`.

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'docs/pictures')

async function main(): Promise<void> {
  await installChromium()
  await mkdir(folder, { recursive: true })
  const day = ['--nodes', '40', '--faults', join(root, 'examples/bad-day.yaml'), '--begin', 'deploy']
  await using running = await LabProcess.start(day)
  const browser = await openBrowser()
  try {
    await using tab = await Tab.open(browser, running.pageUrl, { failuresExpected: true })
    await running.until(['node-0', 'node-39'], 'active')
    await running.until(['node-3', 'node-11', 'node-14'], 'deploy failed')
    // Agents that are silent are waited for until the time limit passes.
    await running.lab.setClock({ mode: 'x600' })
    await running.until(['node-7', 'node-21', 'node-33'], 'deploy failed')
    await running.lab.setClock({ mode: 'real' })
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

async function picture(
  { page }: Tab,
  name: string,
  url: string,
  size: { width: number; height: number },
): Promise<void> {
  await page.setViewportSize(size)
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (url.includes('fleet')) await page.getByRole('img', { name: /^States of 40 machines/ }).waitFor()
  if (url.includes('nodes/')) await page.getByRole('img', { name: /^States/ }).waitFor()
  for (const dismiss of await page.getByRole('button', { name: 'Dismiss' }).all()) await dismiss.click()
  // Text fonts and the drawing are there with the next pictures.
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, name) })
}

await main()
