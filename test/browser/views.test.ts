import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { INSTALL, LabProcess, nodeNames } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess

/** Nodes that work all the time, so that each view is looked at while much happens. */
const BUSY_VIEW_NODES = nodeNames(30, 20)
let load: AsyncDisposable

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '30'])
  const { lab } = running
  await lab.addFault({
    match: { node: 'node-3', program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error: no space left on device' },
    label: 'small disk',
  })
  await running.all(nodeNames(30), 'manage', 'manageable')
  await running.all(nodeNames(30), 'provide', 'available')
  await Promise.all([
    running.all(nodeNames(3), 'active', 'active', INSTALL),
    running.all(['node-3'], 'active', 'deploy failed', INSTALL),
  ])
  load = running.keepBusy(BUSY_VIEW_NODES)
})

afterAll(async () => {
  await load?.[Symbol.asyncDispose]()
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

const place = (hash: string): string => `${running.pageUrl}#/${hash}`

test('the fleet says what fails, why, and what to do; lifting the fault and trying again mends it', async () => {
  await using tab = await Tab.open(browser, place('fleet'))
  const { page } = tab
  const problem = page.getByRole('region', { name: 'Problems' })
  await problem.getByText('no space left on device').waitFor()
  expect(await problem.getByRole('link', { name: 'node-3' }).count()).toBe(1)
  expect(await problem.innerText()).toContain('fault-1 (small disk)')
  await problem.getByRole('button', { name: 'Lift fault-1' }).click()
  await page.getByText('Lifted fault-1.').waitFor()
  await problem.getByRole('button', { name: 'Install CoreOS' }).click()
  await running.until(['node-3'], 'active')
  await problem.waitFor({ state: 'detached' })
  expect(tab.wrong).toEqual([])
})

test('the fleet shows how far it is, its last hour, what the colours mean, and how many faults wait', async () => {
  const { lab } = running
  const { id } = await lab.addFault({ match: { node: 'node-9' }, effect: { kind: 'bmc-silent' }, label: 'waits' })
  await using tab = await Tab.open(browser, place('fleet'))
  const { page } = tab
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByRole('link', { name: 'fault waits' }).waitFor()
  await progress.getByText(/^\d+ of 30$/).waitFor()
  expect(await progress.getByRole('img', { name: /on their way, \d+ failed, of 30$/ }).count()).toBe(1)
  await progress.getByRole('img', { name: /^States of 30 machines over .*exchanges a second$/ }).waitFor()
  const legend = progress.getByRole('list', { name: 'Legend' })
  expect(await legend.innerText()).toMatch(/active\s+\d+[^]*waiting\s+\d+[^]*struck by a fault/)
  await page.locator('.chart').hover({ position: { x: 300, y: 40 } })
  await progress.getByText(/ ago$/).first().waitFor()
  await lab.liftFault(id)
  expect(tab.wrong).toEqual([])
})

test('Deploy all asks only the machines that are ready for it', async () => {
  await using calm = await LabProcess.start(['--nodes', '4'])
  await calm.all(['node-0', 'node-1'], 'manage', 'manageable')
  await calm.all(['node-0'], 'provide', 'available')
  await using tab = await Tab.open(browser, calm.pageUrl)
  const { page } = tab
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByRole('button', { name: 'Manage all 2' }).waitFor()
  await progress.getByRole('button', { name: 'Provide all 1' }).waitFor()
  await progress.getByRole('button', { name: 'Deploy all 1' }).click()
  await page.getByText('Install CoreOS: 1 machine was asked.').waitFor()
  await calm.until(['node-0'], 'active')
  await progress.getByRole('button', { name: /^Deploy all/ }).waitFor({ state: 'detached' })
  const { nodes } = await calm.lab.nodes()
  expect(nodes.map(({ provision_state }) => provision_state)).toEqual(['active', 'manageable', 'enroll', 'enroll'])
  expect(tab.wrong).toEqual([])
})

test('nodes of --begin go on by themselves, and the page says so', async () => {
  await using day = await LabProcess.start(['--nodes', '3', '--begin', 'deploy', '--speed', '0.5'])
  await using tab = await Tab.open(browser, day.pageUrl)
  const { page } = tab
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByText('The nodes go on to active by themselves').waitFor()
  await day.until(nodeNames(3), 'active')
  await progress.getByText('All are active.').waitFor()
  await progress.getByText('3 of 3').waitFor()
  await page.goto(`${day.pageUrl}#/nodes/node-1`)
  await page.getByRole('img', { name: /of them bad$/ }).waitFor()
  const { marks } = await day.lab.timeline('node-1')
  expect(marks.filter(({ isBad }) => isBad)).toEqual([])
  await page.getByRole('img', { name: /, 0 of them bad$/ }).waitFor()
  expect(await page.locator('.point.bad').count()).toBe(0)
  expect(tab.wrong).toEqual([])
})

/** Texts that are wider than their place, as the sentences of a page show them. */
const CUT_LINES = `[...document.querySelectorAll('main *, header *')].filter((element) => {
  const style = getComputedStyle(element)
  const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible'
  return isCut && element.clientWidth > 1 && element.textContent.trim() !== '' && style.overflowX === 'hidden'
}).map((element) => element.className + ': ' + element.textContent.trim().slice(0, 80))`

test.each(['fleet', 'nodes/node-3', 'faults', 'exchanges'])('%s cuts no line at 360 px', async (hash) => {
  await using tab = await Tab.open(browser, place(hash), { viewport: { width: 360, height: 760 } })
  const { page } = tab
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (hash.startsWith('nodes')) await page.getByRole('img', { name: /^States/ }).waitFor()
  expect(await tab.overflow()).toBeLessThanOrEqual(0)
  expect(await page.evaluate<string[]>(CUT_LINES)).toEqual([])
  expect(tab.wrong).toEqual([])
})

test('the grid is filtered, worked by keys, and its cells have names', async () => {
  await using tab = await Tab.open(browser, place('fleet'))
  const { page } = tab
  await page.getByRole('searchbox').fill('node-1')
  await page.getByText('11 of 30').waitFor()
  expect(page.url()).toContain('text=node-1')
  await page.getByRole('listbox').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  const active = page.locator('[role=option][aria-selected=true]')
  await active.waitFor()
  expect(await active.getAttribute('aria-label')).toMatch(/^node-10: available/)
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'node-10' }).waitFor()
  expect(page.url()).toContain('#/nodes/node-10')
  expect(tab.wrong).toEqual([])
})

test('an action applies to many machines at once', async () => {
  await using tab = await Tab.open(browser, place('fleet?text=node-1'))
  const { page } = tab
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByLabel('Select node-11').check()
  await page.getByLabel('Select node-12').check()
  await page.getByRole('button', { name: 'Maintenance on' }).click()
  await page.getByText('Maintenance on: 2 machines were asked.').waitFor()
  const { nodes } = await running.lab.nodes()
  expect(nodes.filter(({ maintenance }) => maintenance).map(({ name }) => name)).toEqual(['node-11', 'node-12'])
  expect(tab.wrong).toEqual([])
})

test('a node shows its timeline, its causes, its record, and its verbs as curl', async () => {
  const { lab } = running
  const { id } = await lab.addFault({
    match: { node: 'node-5', program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 3 },
  })
  await running.all(['node-5'], 'active', 'deploy failed', INSTALL)
  await using tab = await Tab.open(browser, place('nodes/node-5'))
  const { page } = tab
  const why = page.getByRole('region', { name: 'Last error' })
  await why.getByText(`${id} struck`).waitFor()
  expect(await why.innerText()).toContain(`lift ${id}`)
  const picture = page.getByRole('img', { name: /^States: .*deploy failed/ })
  await picture.waitFor()
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.getByRole('button', { name: 'Wall time' }).click()
  await page.getByText('Record', { exact: true }).click()
  await page.getByText('"provision_state": "deploy failed"').waitFor()
  await page.getByRole('button', { name: 'Maintenance on' }).click()
  await page.getByText('Maintenance on: node-5 was asked.').waitFor()
  expect(await page.locator('.curl pre').innerText()).toMatch(/^curl -sS -X PUT .*maintenance'$/)
  await page.getByRole('button', { name: 'Maintenance off' }).click()
  await page.getByText('Maintenance off: node-5 was asked.').waitFor()
  await lab.liftFault(id)
  await page.getByRole('button', { name: 'Install CoreOS' }).click()
  await running.until(['node-5'], 'active')
  await why.waitFor({ state: 'detached' })
  expect(tab.wrong).toEqual([])
})

test('a page that is opened late marks what faults struck long ago', async () => {
  const { lab } = running
  const early = await lab.addFault({
    match: { node: 'node-6', route: 'GET /v1/nodes/:id' },
    effect: { kind: 'status', status: 503 },
    times: 1,
  })
  await running.ironic('GET', '/v1/nodes/node-6')
  const later = await lab.addFault({
    match: { node: 'node-7', route: 'GET /v1/nodes/:id' },
    effect: { kind: 'status', status: 503 },
    times: 1100,
  })
  // More than one answer of the journal holds.
  for (let calls = 0; calls < 1100; calls += 50)
    await Promise.all(Array.from({ length: 50 }, () => running.ironic('GET', '/v1/nodes/node-7')))
  await using tab = await Tab.open(browser, place('fleet?as=table'))
  for (const [node, { id }] of [
    ['node-6', early],
    ['node-7', later],
  ] as const)
    await tab.page.getByRole('row', { name: new RegExp(`\\b${node}\\b.*\\b${id}\\b`) }).waitFor()
  expect(tab.wrong).toEqual([])
  await lab.liftFaults()
})

test('a fault is added by a form that offers what can match, is counted, and lifted; time is paused and moved', async () => {
  await using tab = await Tab.open(browser, place('faults'))
  const { page } = tab
  await page.getByRole('button', { name: 'Add a fault' }).click()
  const form = page.getByRole('form', { name: 'New fault' })
  await form.getByLabel('Effect').selectOption('bmc-dark')
  expect(await form.getByLabel('program').count()).toBe(0)
  await form.getByLabel('for', { exact: true }).fill('1m')
  await form.getByLabel('node', { exact: true }).fill('node-8')
  await form.getByLabel('label').fill('dark')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await page.locator('.faults').getByText('then does not answer for 1 min for node-8').waitFor()
  await running.ironic('PUT', '/v1/nodes/node-8/states/power', { target: 'power on' })
  await page.getByRole('link', { name: /struck [1-9]/ }).waitFor()
  await page.getByRole('button', { name: /^Lift fault-/ }).click()
  await page.getByText('No faults are injected.').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Run' }).waitFor()
  const before = (await running.lab.clock()).elapsed
  await page.getByRole('button', { name: 'Advance by 10m' }).click()
  await expect
    .poll(async () => (await running.lab.clock()).elapsed - before, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(600_000)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  expect(tab.wrong).toEqual([])
})

test('the palette has the focus before it is painted: letters that follow its key at once are for it', async () => {
  await using tab = await Tab.open(browser, place('faults'))
  const { page } = tab
  await page.getByText('live').waitFor()
  const focused = await page.evaluate(`(async () => {
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
    await new Promise((resolve) => queueMicrotask(() => queueMicrotask(resolve)))
    return document.activeElement.getAttribute('role')
  })()`)
  expect(focused).toBe('combobox')
  expect(tab.wrong).toEqual([])
})

test('the palette finds a node, the help lists the keys', async () => {
  await using tab = await Tab.open(browser, place('faults'))
  const { page } = tab
  await page.getByText('live').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('node-17')
  await page.getByRole('option', { name: /^node-17 / }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'node-17' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'node-18' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('next node').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goBack()
  expect(tab.wrong).toEqual([])
})

test.each(
  ['fleet', 'nodes/node-3', 'faults'].flatMap((hash) =>
    (['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ hash, colorScheme, width }))),
  ),
)('$hash is accessible and fits: $colorScheme, $width px', async ({ hash, colorScheme, width }) => {
  await using tab = await Tab.open(browser, place(hash), { colorScheme, viewport: { width, height: 800 } })
  const { page } = tab
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (hash === 'faults') await page.getByRole('button', { name: 'Add a fault' }).click()
  if (hash.startsWith('nodes')) await page.getByRole('img', { name: /^States/ }).waitFor()
  expect(await tab.violations()).toEqual([])
  if (hash === 'fleet') {
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('table').waitFor()
    expect(await tab.violations()).toEqual([])
  }
  expect(await tab.overflow()).toBeLessThanOrEqual(0)
  expect(tab.wrong).toEqual([])
})
