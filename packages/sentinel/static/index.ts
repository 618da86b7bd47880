// Reads HTML without a browser. Weaker than a rendered page: what a style sheet or a script could change is unknown.

export { scanHtml } from './scan-html.ts'
