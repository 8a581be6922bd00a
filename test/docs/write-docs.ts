import { writeFile } from 'node:fs/promises'
import { apiReport } from '../kit/api/report.js'
import { errorsPage } from '../kit/errors-page.js'
import { fidelityPage } from '../kit/fidelity/fidelity-page.js'
import { fidelitySubjects } from '../kit/fidelity/fidelity-rows.js'

/** Writes the pages of docs/ that are made from the source: `npm run docs`. */
await writeFile(new URL('../../docs/api.md', import.meta.url), await apiReport())
await writeFile(new URL('../../docs/errors.md', import.meta.url), await errorsPage())
for (const [name, subject] of fidelitySubjects())
  await writeFile(new URL(`../../docs/fidelity/${name}.md`, import.meta.url), fidelityPage(name, subject))
