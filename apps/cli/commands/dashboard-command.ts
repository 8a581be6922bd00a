import { spawn } from 'node:child_process'
import { PAGE_PATH } from '../../../lab/index.js'
import { type Logger } from '../../../base/runtime/index.js'
import { usageError } from '../usage-error.js'

export interface DashboardOptions {
  open?: boolean
  'no-ui'?: boolean
}

/** @throws UserError (usage) for `--open` without a dashboard */
export function isDashboardServed({ open, 'no-ui': none = false }: DashboardOptions): boolean {
  if (none && open) throw usageError('--open opens the dashboard, and --no-ui leaves it out', 'leave one of them out')
  return !none
}

/** The link to the dashboard of a server; null where it is left out. */
export const dashboardUrl = (url: string, options: DashboardOptions): string | null =>
  isDashboardServed(options) ? `${url}${PAGE_PATH}/` : null

/** Opens a page in the user's browser, with `--open`. Without a browser a warning names the link. */
export function openDashboard(
  url: string | null,
  { open = false }: DashboardOptions,
  { variables, logger }: { variables: Readonly<Record<string, string | undefined>>; logger: Logger },
): void {
  if (!open || url === null) return
  const program = variables['BROWSER'] ?? (process.platform === 'darwin' ? 'open' : 'xdg-open')
  const browser = spawn(program, [url], { detached: true, stdio: 'ignore' })
  const failed = (why: string) =>
    logger('warn', `no browser was opened (${why}): open ${url} in one, or name its program in BROWSER`)
  browser.once('error', (error) => failed(error.message))
  browser.once('exit', (code) => {
    if (code) failed(`${program} ended with ${code}`)
  })
  browser.unref()
}
