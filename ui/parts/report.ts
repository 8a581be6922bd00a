import { saveFile } from '../browser.js'
import { lab } from '../state/connection.js'
import { doing } from './notices.js'

/** Saves the report of the lab, or of one node, as a file that needs nothing else. */
export const saveReport = (node?: string): Promise<boolean> =>
  doing(
    async () =>
      saveFile(
        `ironstage-${(node ?? 'lab').replace(/[^\w.-]/g, '_')}.html`,
        await lab().report(node === undefined ? {} : { node }),
        'text/html',
      ),
    'Saved the report.',
  )
