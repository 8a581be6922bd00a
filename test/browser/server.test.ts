import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bcrypt from 'bcryptjs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

test('without a password the page shows a login, and nothing of the lab; with it, the fleet', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'page-')), 'htpasswd')
  writeFileSync(file, `admin:${bcrypt.hashSync('se:cret ü', 4).replace('$2b$', '$2y$')}\n`)
  const authorization = `Basic ${Buffer.from('admin:se:cret ü').toString('base64')}`
  await using running = await LabProcess.start(['--nodes', '2', '--htpasswd', file], { authorization })
  await using tab = await Tab.open(browser, running.pageUrl, { failuresExpected: true })
  const { page } = tab
  await page.getByLabel('Name').fill('admin')
  expect(await page.content()).not.toContain('node-0')
  expect(await tab.violations()).toEqual([])
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('does not know this name').waitFor()
  await page.getByLabel('Name').fill('admin')
  await page.getByLabel('Password').fill('se:cret ü')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('2 machines').waitFor()
  await page.reload()
  await page.getByText('2 machines').waitFor()
  expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}')
  expect(tab.wrong).toEqual([])
})

test('a lost server is said within five seconds, and the page continues with the next one', async () => {
  const first = await LabProcess.start(['--nodes', '2'])
  await using tab = await Tab.open(browser, first.pageUrl, { failuresExpected: true })
  const { page } = tab
  await page.getByText('2 machines').waitFor()
  await first.stop('SIGKILL')
  await page.getByText('Connection lost').waitFor({ timeout: 5000 })
  await using _second = await LabProcess.start(['--nodes', '5', '--port', new URL(first.url).port])
  await page.getByText('5 machines').waitFor({ timeout: 15_000 })
  expect(await page.getByText('Connection lost').count()).toBe(0)
  expect(tab.wrong).toEqual([])
})

/** Stops the server's process until the page says, within five seconds, that the connection is lost. */
async function lostWhileHanging(running: LabProcess, page: Page): Promise<void> {
  running.child.kill('SIGSTOP')
  try {
    await page.getByText('Connection lost').waitFor({ timeout: 5000 })
  } finally {
    running.child.kill('SIGCONT')
  }
}

test('a server that hangs is lost within five seconds, and its events are not missed', async () => {
  await using running = await LabProcess.start(['--nodes', '2'])
  await using tab = await Tab.open(browser, running.pageUrl, { failuresExpected: true })
  const { page } = tab
  await page.getByText('2 machines').waitFor()
  await lostWhileHanging(running, page)
  await running.lab.enroll({ count: 1, prefix: 'later-' })
  await page.getByText('3 machines').waitFor({ timeout: 15_000 })
  expect(tab.wrong).toEqual([])
})

test('a server that hangs while the page still reads the lab is lost too', async () => {
  await using running = await LabProcess.start(['--nodes', '2'])
  await using tab = await Tab.open(browser, running.pageUrl, { failuresExpected: true })
  const { page } = tab
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  // The rows are read, what else is read beside them is still on its way.
  await page.route(/journal\?.*last=1000/, async (route) => {
    await answered
    await route.continue().catch(() => {})
  })
  await page.reload()
  await page.getByText('2 machines').waitFor()
  await lostWhileHanging(running, page).finally(answer)
  await page.getByText('Connection lost').waitFor({ state: 'hidden', timeout: 15_000 })
  expect(tab.wrong).toEqual([])
})

test('--no-ui serves no page', async () => {
  await using running = await LabProcess.start(['--no-ui'])
  expect(running.pageUrl).toBe(undefined)
  expect((await fetch(`${running.url}/_lab/ui/`)).status).toBe(404)
})
