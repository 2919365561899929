/** The playground: graphs in a browser, without a server. */
import { render } from "preact";
import { App } from "./app.tsx";

const place = document.getElementById("playground")!;
place.replaceChildren();
render(<App />, place);
