import { redisUnderTest } from "../../support/places.ts";
import { validateOn } from "./suite.ts";

validateOn(redisUnderTest);
