import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TEXT_ATTACKS } from './kit/attacks.js'
import { LabProcess, nodeNames } from './kit/lab-process.js'
import { openBrowser, Tab } from './kit/tab.js'

let browser: Browser
let running: LabProcess
/** Id of node-0's machine. */
let machine: string

/** Nodes that work all the time, so that each view is looked at while much happens. */
const BUSY_MACHINE_NODES = nodeNames(8, 4)
let load: AsyncDisposable

const FILE = `/etc/${TEXT_ATTACKS[1]!}`

const IGNITION = {
  ignition: { version: '3.4.0' },
  storage: {
    files: [
      { path: FILE, mode: 0o644, contents: { source: `data:,${encodeURIComponent(TEXT_ATTACKS.join('\n'))}` } },
      { path: '/etc/secret', mode: 0o600, contents: { source: 'data:,the-secret' } },
    ],
  },
  systemd: {
    units: [
      {
        name: 'attack.service',
        enabled: true,
        contents: `[Unit]\nDescription=${TEXT_ATTACKS[0]!}\n[Install]\nWantedBy=multi-user.target\n`,
      },
    ],
  },
}

const INSTALL = {
  deploy_steps: [
    {
      interface: 'deploy',
      step: 'install_coreos',
      priority: 80,
      args: { ignition: IGNITION, append_karg: [`attack=${TEXT_ATTACKS[2]!.replaceAll(' ', '')}`] },
    },
  ],
}

beforeAll(async () => {
  browser = await openBrowser()
  running = await LabProcess.start(['--nodes', '8'])
  await running.all(nodeNames(8), 'manage', 'manageable')
  await running.all([...BUSY_MACHINE_NODES, 'node-0'], 'provide', 'available')
  await running.all(['node-0'], 'active', 'active', INSTALL)
  machine = (await running.lab.node('node-0')).machine!
  while ((await running.lab.machine(machine)).firstBoot === null)
    await new Promise((resolve) => setTimeout(resolve, 100))
  // Calls that lead nowhere, with attacks for a name, a body and a header.
  await running.ironic('POST', '/v1/nodes/node-0/states/provision', { target: TEXT_ATTACKS })
  await running.ironic('GET', `/v1/nodez/${encodeURIComponent(TEXT_ATTACKS[0]!)}`)
  // The journal keeps so many entries: what the tests look at is not to leave it.
  load = running.keepBusy(BUSY_MACHINE_NODES, 1000)
})

afterAll(async () => {
  await load?.[Symbol.asyncDispose]()
  await browser?.close()
  await running?.[Symbol.asyncDispose]()
})

const place = (hash: string): string => `${running.pageUrl}#/${hash}`

test('a machine shows who wrote to its disk, its files, what Ignition did, and its BMC; power is switched', async () => {
  await using tab = await Tab.open(browser, place('nodes/node-0'))
  const { page } = tab
  await page.getByRole('link', { name: `machine ${machine}` }).click()
  await page.getByRole('heading', { level: 1, name: machine }).waitFor()

  const disks = page.getByRole('region', { name: 'Disks' })
  const writes = page.getByRole('region', { name: 'Who wrote to sda' })
  expect(
    await writes.getByRole('row', { name: /coreos-installer .*1 BIOS-BOOT, 2 EFI-SYSTEM, 3 boot, 4 root/ }).count(),
  ).toBe(1)
  expect(await writes.getByRole('row', { name: /system ?last boot/ }).count()).toBe(1)
  expect(await disks.innerText()).toMatch(/The last boot that wrote changed [\d.]+ KiB/)
  const boot = disks.locator('.partitions').first().locator('rect').nth(2)
  const zoomed = (await boot.boundingBox())!.width
  await disks.getByRole('button', { name: 'Show the whole disk' }).first().click()
  expect((await boot.boundingBox())!.width).toBeLessThan(zoomed / 4)

  const files = page.getByRole('region', { name: 'Files', exact: true })
  await files.getByRole('searchbox').fill('secret')
  await files.getByRole('button', { name: '/etc/secret' }).click()
  await files.getByText('Only its owner may read it').waitFor()
  expect(await page.content()).not.toContain('the-secret')
  await files.getByRole('button', { name: 'boot', exact: true }).click()
  await files.getByRole('searchbox').fill('loader')
  await files
    .getByRole('button', { name: /loader.*\.conf/ })
    .first()
    .click()
  await files.locator('pre').getByText('ignition.platform.id=metal').waitFor()

  const ignition = page.getByRole('region', { name: 'Ignition', exact: true })
  expect(await ignition.innerText()).toContain('attack.service')
  expect(await ignition.innerText()).toContain('Ignition finished successfully')
  const bmc = page.getByRole('region', { name: 'BMC' })
  await bmc.getByRole('cell', { name: 'set power' }).first().waitFor()

  await page.getByRole('button', { name: 'Power off' }).click()
  await page.getByText('power off').waitFor()
  expect((await running.lab.machine(machine)).power).toBe('off')
  await page.getByRole('button', { name: 'Power on' }).click()
  await page.getByText('power on', { exact: true }).waitFor()
  await bmc.getByRole('link', { name: 'All calls of the BMC' }).click()
  await page.getByRole('cell', { name: 'ironic → bmc' }).first().waitFor()
  expect(tab.wrong).toEqual([])
})

test('exchanges come live, are filtered and held, and a call shows its bodies, its nearest call and itself as curl', async () => {
  await using tab = await Tab.open(browser, place('exchanges'))
  const { page } = tab
  const calls = page.getByRole('region', { name: 'Calls', exact: true })
  await calls.getByRole('cell', { name: 'ironic → agent' }).first().waitFor()
  await page.getByRole('button', { name: 'Hold' }).click()
  await page.getByText('calls, held').waitFor()
  const shown = await calls.innerText()
  await running.ironic('PUT', '/v1/nodes/node-1/maintenance', { reason: 'seen live' })
  await page.waitForTimeout(500)
  expect(await calls.innerText()).toBe(shown)
  await page.keyboard.press('h')
  await page.getByRole('searchbox', { name: 'Node' }).fill('node-1')
  await page.getByRole('searchbox', { name: 'Route' }).fill('maintenance')
  await calls.getByRole('button', { name: 'PUT /v1/nodes/node-1/maintenance' }).waitFor()
  await running.ironic('DELETE', '/v1/nodes/node-1/maintenance')
  await calls.getByRole('button', { name: 'DELETE /v1/nodes/node-1/maintenance' }).waitFor()
  expect(await calls.getByRole('row').count()).toBe(3)
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('j')
  const call = page.getByRole('region', { name: 'Call', exact: true })
  await call.getByRole('heading', { name: 'DELETE /v1/nodes/node-1/maintenance' }).waitFor()
  await page.keyboard.press('j')
  await call.getByRole('heading', { name: 'PUT /v1/nodes/node-1/maintenance' }).waitFor()
  expect(await call.getByLabel('Body of the request').innerText()).toContain('"reason": "seen live"')
  expect(await call.getByLabel('The call as curl').innerText()).toMatch(/^curl -sS -X PUT .*"seen live".*maintenance'$/)
  await page.keyboard.press('k')
  await call.getByRole('heading', { name: 'DELETE /v1/nodes/node-1/maintenance' }).waitFor()
  await page.keyboard.press('x')
  await call.waitFor({ state: 'detached' })

  // Found among earlier calls, that were made before the page was opened.
  await page.goto(place('exchanges?status=4&route=states/provision'))
  await calls.getByText('Nearest is PUT /v1/nodes/{node_ident}/states/provision').waitFor()

  await page.goto(place('exchanges?node=node-0&party=agent'))
  await page.getByText('agent_token=***').first().waitFor()
  await page.keyboard.press('d')
  const diagram = page.getByRole('region', { name: 'Sequence diagram' })
  await diagram
    .getByRole('button', { name: /POST \/v1\/heartbeat.* → 202, agent to ironic, / })
    .first()
    .click()
  await call.getByLabel('The call as curl').waitFor()
  expect(await page.content()).not.toMatch(/agent_token[=:"\s]+[\w-]{20}/)
  expect(page.url()).toMatch(/as=diagram.*call=\d+/)
  expect(tab.wrong).toEqual([])
})

const unharmed = async ({ page, wrong }: Tab): Promise<void> => {
  await page.waitForTimeout(200)
  expect(await page.evaluate('window.struck')).toBe(undefined)
  expect(await page.locator('main script, main img, main iframe, main b, [onload], [onerror]').count()).toBe(0)
  expect(wrong).toEqual([])
}

test('names of files, their contents, kernel arguments, Ignition and console bytes that are attacks are text', async () => {
  await using tab = await Tab.open(browser, place('faults'))
  const { page } = tab
  const lines = [
    ...TEXT_ATTACKS,
    '\u001b[31mred\u001b[0m \u001b]52;c;c3RydWNr\u0007',
    '\u0000\ufffd\u0008\u007f',
    '\u2028',
  ]
  const events = [{ event: 'console', lines }, ...lines.map((line) => ({ event: 'line', line: `again ${line}` }))]
  // The ramdisk that is built in prints nothing: the server's stream is replaced.
  await page.route('**/_lab/machines/*/console', (route) =>
    route.fulfill({
      status: 200,
      contentType: 'text/event-stream',
      body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
    }),
  )
  await page.goto(place(`machines/${machine}`))
  await page.getByRole('log').getByText(`again ${TEXT_ATTACKS[0]!}`).waitFor()
  expect(await page.getByRole('log').innerText()).toContain(TEXT_ATTACKS[1])
  expect(await page.getByRole('region', { name: 'Disks' }).innerText()).toContain('attack="><svg')
  expect(await page.getByRole('region', { name: 'Ignition', exact: true }).innerText()).toContain(FILE)
  const files = page.getByRole('region', { name: 'Files', exact: true })
  await files.getByRole('button', { name: FILE }).click()
  await files.locator('pre').getByText(TEXT_ATTACKS[0]!).waitFor()
  await page.getByLabel('the whole journal of the system').check()
  await unharmed(tab)
})

test('calls with attacks in their paths and bodies are text, in the list, the diagram and the details', async () => {
  for (const hash of ['exchanges?status=4', 'exchanges?status=4&as=diagram']) {
    await using tab = await Tab.open(browser, place(hash))
    const { page } = tab
    await page
      .getByRole('button', { name: /POST .*states\/provision/ })
      .first()
      .click()
    const body = page.getByLabel('Body of the request')
    await body.waitFor()
    expect(await body.innerText()).toContain('<script>window.struck=1</script>')
    expect(await page.getByLabel('The call as curl').innerText()).toContain(String.raw`'\'';window.struck`)
    await page.getByRole('button', { name: /nodez/ }).first().click()
    await unharmed(tab)
  }
})

test('a report is saved as a file, of a node and of the lab', async () => {
  await using tab = await Tab.open(browser, place('nodes/node-0'))
  const { page } = tab
  for (const name of ['ironstage-node-0.html', 'ironstage-lab.html']) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save report' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(name)
    const chunks: Buffer[] = []
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).toString()).toMatch(/^<!doctype html>[^]*node-0/i)
    await page.goto(place('fleet'))
  }
  expect(tab.wrong).toEqual([])
})

test.each(
  ['machine', 'exchanges?status=4', 'exchanges?as=diagram&node=node-0'].flatMap((hash) =>
    (['light', 'dark'] as const).flatMap((colorScheme) => [1280, 360].map((width) => ({ hash, colorScheme, width }))),
  ),
)('$hash is accessible and fits: $colorScheme, $width px', async ({ hash, colorScheme, width }) => {
  const url = place(hash === 'machine' ? `machines/${machine}` : hash)
  await using tab = await Tab.open(browser, url, { colorScheme, viewport: { width, height: 800 } })
  const { page } = tab
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (hash === 'machine') {
    await page.getByRole('region', { name: 'Who wrote to sda' }).waitFor()
    await page.getByRole('button', { name: '/etc/passwd', exact: true }).click()
    await page.getByLabel('Contents of /etc/passwd').waitFor()
  } else
    await page
      .getByRole('button', { name: /(GET|POST) / })
      .first()
      .click()
  expect(await tab.violations()).toEqual([])
  expect(await tab.overflow()).toBeLessThanOrEqual(0)
  expect(tab.wrong).toEqual([])
})
