/** Reports as HTML pages: their parts, the page of a lab, that of a node. */
export { diskBar, timeChart, type Bar } from './html/charts.js'
export { htmlPage, pageHeaders, type Tone } from './html/html-page.js'
export { Html, escapeHtml, markup } from './html/html.js'
export { causeList, checkTable, factList, foldText, htmlBadge, htmlTable } from './html/parts.js'
export { labReportHtml, nodesToShow } from './lab-html.js'
export { nodeDetails, type NodeDetails, type ReportSource } from './node-details.js'
export { nodeHtml } from './node-html.js'
