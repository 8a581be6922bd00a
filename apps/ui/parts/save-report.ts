import { saveFile } from '../browser.js'
import { makeLabClient } from '../state/page-connection.js'
import { runWithNotice } from './notices.js'

/** Saves the report of the lab, or of one node, as a file that needs nothing else. */
export const saveReport = (node?: string): Promise<boolean> =>
  runWithNotice(
    async () =>
      saveFile(
        `ironstage-${(node ?? 'lab').replace(/[^\w.-]/g, '_')}.html`,
        await makeLabClient().report(node === undefined ? {} : { node }),
        'text/html',
      ),
    'Saved the report.',
  )
