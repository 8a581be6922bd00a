import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { hostsYaml } from '../kit/hardware-lab/hosts-yaml.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let folder: string
beforeAll(async () => {
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-browser-run-'))
  await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
  await writeFile(join(folder, 'hosts.yaml'), hostsYaml(4))
})
afterAll(async () => {
  await browser?.close()
  await rm(folder, { recursive: true, force: true })
})

/** A rehearsal in a process of its own. @returns the address of its page */
async function rehearsal(faults: readonly object[]): Promise<string> {
  await writeFile(join(folder, 'faults.json'), JSON.stringify({ faults }))
  const argv = ['run', 'hosts.yaml', '--rehearse', '--restart', '--json', '--faults', 'faults.json']
  const child = spawn(process.execPath, [IRONSTAGE, ...argv], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, url } = JSON.parse(line) as { event: string; url?: string }
    if (event !== 'dashboard') continue
    child.stdout.resume()
    return url!
  }
  throw new Error('the run ended without a page')
}

const ATTACK = '<img src=x onerror="window.struck=1">'

test('a rehearsal is followed to its end: stages, why a host failed, its machine, the report', async () => {
  const url = await rehearsal([
    { match: { program: 'coreos-installer' }, effect: { kind: 'delay', for: '4s' } },
    {
      match: { machine: 'node-3', program: 'coreos-installer' },
      effect: { kind: 'exit-code', code: 1, stderr: `Error: ${ATTACK}` },
    },
  ])
  await using tab = await Tab.open(browser, url)
  const { page } = tab
  await page.getByRole('heading', { level: 1, name: /^Rehearsal / }).waitFor()
  const host = (name: string) => page.getByRole('listitem', { name, exact: true })
  await host('node-1').getByText('steps').waitFor()
  await page.getByText(/^4 hosts: .*running/).waitFor()

  const failed = host('node-3')
  await failed.getByText('failed', { exact: true }).first().waitFor({ timeout: 30_000 })
  await failed.getByText(ATTACK).first().waitFor()
  expect(await page.evaluate('window.struck')).toBeUndefined()
  // The message is shown while the host's program ends, a moment before the host counts as failed.
  await page.locator('.run-hosts > li:first-child[aria-label="node-3"]').waitFor()

  // Its server ends with it.
  tab.expectFailures()
  await page.getByText('The run is over: 3 installed, 1 failed.').waitFor({ timeout: 60_000 })
  await page.getByText(/reports\/.*\.html/).waitFor()
  await page.getByText('The run has ended').waitFor()
  await page.getByText('3 installed, 1 failed').waitFor()
  expect(tab.wrong).toEqual([])
})

test('its keys move between hosts; a host leads to its machine, and that to its exchanges', async () => {
  const url = await rehearsal([{ match: { program: 'coreos-installer' }, effect: { kind: 'delay', for: '60s' } }])
  await using tab = await Tab.open(browser, url)
  const { page } = tab
  await page.getByRole('listitem', { name: 'node-2' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('node-2')
  await page.keyboard.press('k')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('node-1')
  await page.getByRole('link', { name: 'node-2' }).click()
  await page.getByRole('region', { name: 'Disks' }).waitFor()
  await page.keyboard.press('4')
  await page.getByRole('heading', { level: 1, name: /^Rehearsal / }).waitFor()
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    await using other = await Tab.open(browser, url, { colorScheme, viewport: { width, height: 800 } })
    await other.page.getByRole('listitem', { name: 'node-2' }).waitFor()
    expect(await other.violations()).toEqual([])
    expect(await other.overflow()).toBeLessThanOrEqual(0)
  }
  expect(tab.wrong).toEqual([])
})
