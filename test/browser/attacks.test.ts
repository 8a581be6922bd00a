import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ATTACKS } from './kit/attacks.js'
import { LabProcess } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess
beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '3'])
  const { lab } = running
  for (const [index, attack] of ATTACKS.entries())
    await lab.addFault({
      match: { node: 'node-0', program: `p${index}${attack.replaceAll('\u0000', '')}` },
      effect: { kind: 'exit-code', code: 1, stderr: attack },
      label: attack.replaceAll('\u0000', ''),
    })
  await running.ironic('PATCH', '/v1/nodes/node-0', [
    { op: 'add', path: '/description', value: ATTACKS.join(' ') },
    { op: 'add', path: '/extra/attack', value: ATTACKS },
    { op: 'add', path: '/instance_info/kernel_append_params', value: ATTACKS[1] },
    { op: 'add', path: '/instance_info/ignition', value: `{"ignition":{"version":"3.4.0"},"x":"${ATTACKS[0]!}"}` },
  ])
  // Ironic's names are those of hosts: such a name comes by its BMC's sentence, as an error of the node.
  await lab.addFault({
    match: { node: 'node-1' },
    effect: { kind: 'exit-code', code: 1, stderr: ATTACKS.join('\n').replaceAll('\u0000', '') },
  })
  const names = ['node-0', 'node-1']
  await running.all(names, 'manage', 'manageable')
  await running.all(['node-0'], 'provide', 'available')
})
afterAll(async () => {
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

test.each([
  'fleet',
  'fleet?error=any',
  'nodes/node-0',
  'nodes/node-1',
  'faults',
  `nodes/${encodeURIComponent(ATTACKS[1]!)}`,
  `fleet?text=${encodeURIComponent(ATTACKS[0]!)}`,
  encodeURIComponent(ATTACKS[2]!),
])('values that hold scripts are text: %s', async (hash) => {
  await using tab = await Tab.open(browser, `${running.pageUrl}#/${hash}`)
  const { page } = tab
  await page.getByText('live').waitFor()
  if (hash.startsWith('nodes/node')) {
    await page.getByText('Record', { exact: true }).click()
    await page.getByText('"uuid"').waitFor()
    await page.getByText('As a list').click()
  }
  if (hash === 'nodes/node-0') expect(await page.locator('.json').innerText()).toContain('onerror=')
  if (hash === 'faults') expect(await page.locator('.faults').innerText()).toContain(ATTACKS[0])
  await page.keyboard.press('Control+k')
  await page.keyboard.type(ATTACKS[0]!)
  await page.keyboard.press('Escape')
  await page.waitForTimeout(300)
  expect(await page.evaluate('window.struck')).toBe(undefined)
  expect(await page.locator('main script, main img, main iframe, main b, [onload], [onerror]').count()).toBe(0)
  expect(tab.wrong).toEqual([])
})

test('a node whose answers are attacks is text in the grid, the table, the problems and its page', async () => {
  await using tab = await Tab.open(browser, running.pageUrl)
  const { page } = tab
  // The server's answers are replaced: Ironic itself takes no such name.
  await page.route('**/_lab/nodes', (route) =>
    route.fulfill({
      json: {
        nodes: ATTACKS.map((attack, index) => ({
          name: attack,
          uuid: `uuid-${index}`,
          machine: attack,
          provision_state: 'deploy failed',
          power_state: attack,
          last_error: attack,
          target: 'active',
          since: null,
          step: attack,
          maintenance: false,
          waitsFor: null,
        })),
      },
    }),
  )
  await page.reload()
  await page.getByText(`${ATTACKS.length} machines`, { exact: true }).waitFor()
  expect(await page.getByRole('region', { name: 'Problems' }).innerText()).toContain('javascript:window.struck=1')
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByRole('table').getByText('"><svg onload=window.struck=1>').first().waitFor()
  await page.getByRole('table').getByRole('link').first().click()
  await page.waitForTimeout(500)
  expect(await page.evaluate('window.struck')).toBe(undefined)
  expect(tab.wrong.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
})
