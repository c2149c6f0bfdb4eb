import { fileUnderTest } from "../../backends/locations.ts";
import { validateOn } from "./suite.ts";

validateOn(fileUnderTest);
