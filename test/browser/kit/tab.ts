import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** A browser for the tests of a file. */
export const openBrowser = (): Promise<Browser> =>
  // Tests may run as root, whom Chromium does not confine; the page is the project's own.
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info'] })

/** Time for something to appear, in milliseconds: a machine of a CI has other work too. */
const BROWSER_TIMEOUT = 15_000

/** Rules of WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A tab, and everything in it that must not be. */
export class Tab {
  /** Errors of the console, scripts and the page's policy; requests to other origins. */
  readonly wrong: string[] = []

  private constructor(
    readonly page: Page,
    readonly origin: string,
    /** True if calls may fail, as they do without a password or a server. */
    private failuresExpected: boolean,
  ) {}

  static async open(
    browser: Browser,
    url: string,
    { failuresExpected = false, ...options }: BrowserContextOptions & { failuresExpected?: boolean } = {},
  ): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(BROWSER_TIMEOUT)
    const tab = new Tab(page, new URL(url).origin, failuresExpected)
    tab.listen()
    await page.goto(url)
    return tab
  }

  private listen(): void {
    const { page, wrong } = this
    page.on('console', (message) => {
      const isOfNetwork = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !(isOfNetwork && this.failuresExpected)) wrong.push(message.text())
    })
    page.on('pageerror', (error) => wrong.push(`${error.message}\n${error.stack ?? ''}`))
    page.on('dialog', (dialog) => {
      wrong.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== this.origin) wrong.push(`a request to ${request.url()}`)
    })
  }

  /** From now on calls may fail. */
  expectFailures(): void {
    this.failuresExpected = true
  }

  /** Violations of the rules for accessibility, as sentences. */
  async violations(): Promise<string[]> {
    // As from the developer tools, which the page's policy does not bind.
    const session = await this.page.context().newCDPSession(this.page)
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    }
    await evaluate(AXE)
    const found = (await evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations.map(
        ({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join('; ')))`,
    )) as string[]
    await session.detach()
    return found
  }

  /** Width that the page needs beyond its window. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
  }
}
